/** The blocks of data in this page: gzip in base64, in elements that the browser does not run (src/report/page_pack.h). */

async function unpack(base64: string): Promise<Uint8Array> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Blocks {
  private readonly elements = new Map<string, Element>();

  constructor(root: ParentNode) {
    for (const element of root.querySelectorAll("script[data-block]")) this.elements.set(element.getAttribute("data-block") ?? "", element);
  }

  has(name: string): boolean {
    return this.elements.has(name);
  }

  /** null: the page has no such block. */
  async bytes(name: string): Promise<Uint8Array | null> {
    const element = this.elements.get(name);
    return element ? unpack(element.textContent ?? "") : null;
  }

  async text(name: string): Promise<string | null> {
    const bytes = await this.bytes(name);
    return bytes && new TextDecoder().decode(bytes);
  }

  /** null also where it is no JSON: members of results come from other programs. */
  async json<T>(name: string): Promise<T | null> {
    const text = await this.text(name);
    try {
      return text === null ? null : (JSON.parse(text) as T);
    } catch {
      return null;
    }
  }
}
