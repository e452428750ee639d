import { expect, test } from "vitest";
import { Blocks } from "../src/blocks";

/** Stands for a document with these blocks. */
function rootOf(blocks: Record<string, string>): ParentNode {
  const elements = Object.entries(blocks).map(([name, text]) => ({ getAttribute: () => name, textContent: text }));
  return { querySelectorAll: () => elements } as unknown as ParentNode;
}

async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return btoa(String.fromCharCode(...new Uint8Array(await new Response(stream).arrayBuffer())));
}

test("a block comes back as it was packed, names as text", async () => {
  const value = { name: "</script><b>\u0000\u202e", ranks: [0, 1] };
  const blocks = new Blocks(rootOf({ "0/profile.json": await packed(JSON.stringify(value)) }));
  expect(blocks.has("0/profile.json")).toBe(true);
  expect(await blocks.json("0/profile.json")).toEqual(value);
});

test("a block that is absent or no JSON is null; one that is damaged is an error", async () => {
  const blocks = new Blocks(rootOf({ text: await packed("{"), damaged: btoa("no gzip") }));
  expect(await blocks.bytes("absent")).toBeNull();
  expect(await blocks.json("absent")).toBeNull();
  expect(await blocks.json("text")).toBeNull();
  await expect(blocks.bytes("damaged")).rejects.toThrow();
});
