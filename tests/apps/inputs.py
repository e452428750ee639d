"""Small inputs of real applications: what is run, where its result stands. Each makes its input in the directory it is given; basis sets,
force fields and atomic data come with the packages.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from patience import patience  # noqa: E402

LENGTH = 1   # apps.py --length: how many times as many steps
THREADS = 1  # apps.py --threads: of OpenMP in each rank

WATER = """ O 0.0  0.000000 -0.065587
 H 0.0 -0.757136  0.520545
 H 0.0  0.757136  0.520545
"""


def write(where, name, text):
    path = os.path.join(where, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as out:
        out.write(text)


os.environ.setdefault("WM_PROJECT_DIR", "/usr/share/openfoam")
os.environ["OMP_NUM_THREADS"] = "1"


def prepare(where, *command, stdin=None):
    subprocess.run(command, cwd=where, check=True, input=stdin, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=patience(120))


def cp2k(where):
    write(where, "water.inp", f"""&GLOBAL
  PROJECT water
  RUN_TYPE MD
  PRINT_LEVEL LOW
&END GLOBAL
&MOTION
  &MD
    ENSEMBLE NVE
    STEPS {8 * LENGTH}
    TIMESTEP 0.1
    TEMPERATURE 300.0
  &END MD
&END MOTION
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME BASIS_SET
    POTENTIAL_FILE_NAME POTENTIAL
    &MGRID
      CUTOFF 200
    &END MGRID
    &QS
      EPS_DEFAULT 1.0E-8
    &END QS
    &SCF
      EPS_SCF 1.0E-4
      SCF_GUESS ATOMIC
    &END SCF
    &XC
      &XC_FUNCTIONAL Pade
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 4.0 4.0 4.0
    &END CELL
    &COORD
{WATER}    &END COORD
    &KIND H
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
""")
    return ["cp2k.psmp", "-i", "water.inp"]


def nwchem(where):
    again = "unset water:converged\ntask dft energy ignore\n"
    write(where, "water.nw", f"""start water
memory total 400 mb
geometry units angstrom noautosym
{WATER}end
basis
 * library 6-31g*
end
dft
 direct
 noio
 xc b3lyp
 vectors input atomic
end
{"task dft energy" + chr(10) if LENGTH == 1 else again * LENGTH}""")
    return ["nwchem.openmpi", "water.nw"]


def nwchem_mpich(where):
    """With windows that MPICH allocates, this build's results are wrong, bare and measured."""
    os.environ["ARMCI_USE_WIN_ALLOCATE"] = "0"
    return ["nwchem.mpich", *nwchem(where)[1:]]


def bagel(where):
    """Formaldehyde, Hartree-Fock and MP2; basis sets come with the package. Threads of its own ask for messages that come (MPI_THREAD_MULTIPLE)."""
    os.environ["BAGEL_NUM_THREADS"] = "1"
    write(where, "formaldehyde.json", """{ "bagel": [
  { "title": "molecule", "basis": "svp", "df_basis": "svp-jkfit", "angstrom": true,
    "geometry": [ { "atom": "C", "xyz": [0.0, 0.0, 0.0] }, { "atom": "O", "xyz": [0.0, 0.0, 1.21] },
      { "atom": "H", "xyz": [0.94, 0.0, -0.54] }, { "atom": "H", "xyz": [-0.94, 0.0, -0.54] } ] }""" +
          ',\n  { "title": "hf", "thresh": 1e-8 }, { "title": "mp2", "frozen": true }' * LENGTH + " ] }\n")
    return ["BAGEL", "formaldehyde.json"]


def abinit(where):
    """Silicon; the pseudopotential comes with the package's data."""
    write(where, "si.abi", f"""pp_dirpath "/usr/share/abinit/psp"
pseudos "14si.pspnc"
acell 3*10.217
rprim 0.0 0.5 0.5  0.5 0.0 0.5  0.5 0.5 0.0
ntypat 1  znucl 14  natom 2  typat 1 1
xred 0.0 0.0 0.0  0.26 0.25 0.25
ecut 8.0
ngkpt 2 2 2  nshiftk 1  shiftk 0.5 0.5 0.5
nstep 20  toldfe 1.0d-8  diemac 12.0  chksymtnons 0
ionmov 12  ntime {4 * LENGTH}  dtion 50  mdtemp 300 300  tolmxf 1e-20
prtwf 0  prtden 0  prteig 0
""")
    return ["abinit", "si.abi"]


def quantum_espresso(where):
    """The pseudopotential of hydrogen is made by the package's own program for atoms."""
    write(where, "atom.in", """&input
 title='H', zed=1., rel=0, config='1s1', iswitch=3, dft='PBE'
/
&inputp
 lloc=0, pseudotype=1, file_pseudopw='H.UPF', author='test', tm=.true.
/
1
1S 1 0 1.00 0.00 0.80 0.80 0.0
""")
    prepare(where, "ld1.x", "-in", "atom.in")
    write(where, "h2.in", f"""&control
 calculation='md', nstep={3 * LENGTH}, dt=10.0, prefix='h2', pseudo_dir='.', outdir='.', disk_io='none'
/
&system
 ibrav=1, celldm(1)=12.0, nat=2, ntyp=1, ecutwfc=30.0, nbnd=4
/
&electrons
 conv_thr=1e-8
/
&ions
/
ATOMIC_SPECIES
 H 1.008 H.UPF
ATOMIC_POSITIONS bohr
 H 0 0 0
 H 0 0 1.4
K_POINTS gamma
""")
    return ["pw.x", "-in", "h2.in"]


def gromacs(where):
    write(where, "topol.top", """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
""")
    write(where, "grompp.mdp", f"""integrator = md
dt = 0.002
nsteps = {500 * LENGTH}
nstlog = 100
nstenergy = 100
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = no
pcoupl = no
gen-vel = yes
gen-seed = 17
gen-temp = 300
constraints = h-bonds
""")
    prepare(where, "gmx", "solvate", "-cs", "spc216.gro", "-box", "2.5", "2.5", "2.5", "-o", "conf.gro", "-p", "topol.top")
    prepare(where, "gmx", "grompp", "-f", "grompp.mdp", "-maxwarn", "3")
    return ["gmx_mpi", "mdrun", "-s", "topol.tpr", "-ntomp", str(THREADS), "-reprod", "-g", "md.log"]


FOAM = "FoamFile { version 2.0; format ascii; class %s; object %s; }\n"


def openfoam(where):
    """The lid-driven cavity."""
    write(where, "system/controlDict", FOAM % ("dictionary", "controlDict") + f"""application icoFoam; startFrom startTime; startTime 0; stopAt endTime;
endTime {0.3 * LENGTH}; deltaT 0.0025; writeControl timeStep; writeInterval 1000; purgeWrite 0; writeFormat ascii; writePrecision 10; timeFormat general;
""")
    write(where, "system/fvSchemes", FOAM % ("dictionary", "fvSchemes") + """ddtSchemes { default Euler; } gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; } laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; } snGradSchemes { default orthogonal; }
""")
    write(where, "system/fvSolution", FOAM % ("dictionary", "fvSolution") + """solvers { p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; }
pFinal { $p; relTol 0; } U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; } }
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
""")
    write(where, "system/decomposeParDict", FOAM % ("dictionary", "decomposeParDict") +
          "numberOfSubdomains 2; method simple; simpleCoeffs { n (2 1 1); delta 0.001; }\n")
    write(where, "system/blockMeshDict", FOAM % ("dictionary", "blockMeshDict") + """scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (40 40 1) simpleGrading (1 1 1)); edges ();
boundary ( movingWall { type wall; faces ((3 7 6 2)); } fixedWalls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
frontAndBack { type empty; faces ((0 3 2 1) (4 5 6 7)); } );
""")
    write(where, "constant/transportProperties", FOAM % ("dictionary", "transportProperties") + "nu 0.01;\n")
    write(where, "0/p", FOAM % ("volScalarField", "p") + """dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { movingWall { type zeroGradient; } fixedWalls { type zeroGradient; } frontAndBack { type empty; } }
""")
    write(where, "0/U", FOAM % ("volVectorField", "U") + """dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);
boundaryField { movingWall { type fixedValue; value uniform (1 0 0); } fixedWalls { type noSlip; } frontAndBack { type empty; } }
""")
    prepare(where, "blockMesh")
    prepare(where, "decomposePar")
    return ["icoFoam", "-parallel"]


def lammps(where):
    """The melt of tests/system/real, longer."""
    melt = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system/real/melt.in")
    return ["lmp", "-in", os.path.abspath(melt), "-log", "none", "-var", "steps", str(800 * LENGTH)]


def gpaw(where):
    write(where, "h2.py", f"""from ase import Atoms
from gpaw import GPAW
from gpaw.mpi import world
h2 = Atoms("H2", [(0, 0, 0), (0, 0, 0.74)])
h2.center(vacuum=2.5)
h2.calc = GPAW(mode="fd", h=0.25, xc="PBE", nbands=2, txt=None)
for step in range({LENGTH}):
    energy = h2.get_potential_energy()
    h2.set_distance(0, 1, 0.75 + 0.01 * step)
    if world.rank == 0:
        print("energy", repr(round(energy, 6)))
""")
    return ["gpaw", "python", "h2.py"]


def freefem(where):
    write(where, "laplace.edp", ("""// additive Schwarz by hand: two halves that exchange what they overlap in
int n = 60;
mesh Th = square(n, n, [x * 0.6 + 0.4 * mpirank, y]);
fespace Vh(Th, P1);
Vh u = 0, v, g = 0;
int inner = 2 + 2 * mpirank, outer = 4 - 2 * mpirank, other = 1 - mpirank;
problem local(u, v) = int2d(Th)(dx(u) * dx(v) + dy(u) * dy(v)) - int2d(Th)(v)
  + on(1, 3, u = 0) + on(outer, u = 0) + on(inner, u = g);
real[int] out(n + 1), in(n + 1);
real line = 0.4 + 0.2 * mpirank;
for (int it = 0; it < STEPS; it++) {
  local;
  for (int i = 0; i <= n; i++) out[i] = u(line, i / real(n));
  mpiRequest r;
  Irecv(processor(other, r), in);
  Send(processor(other), out);
  mpiWait(r);
  g = in[int(y * n + 0.5)];
}
real sum = int2d(Th)(u), all;
mpiAllReduce(sum, all, mpiCommWorld, mpiSUM);
if (mpirank == 0) cout.precision(12);
if (mpirank == 0) cout << "integral " << all << endl;
""").replace("STEPS", str(25 * LENGTH)))
    return ["FreeFem++-mpi", "-v", "0", "-nw", "laplace.edp"]


def meep(where):
    write(where, "wave.py", f"""import meep as mp
sim = mp.Simulation(cell_size=mp.Vector3(16, 8, 0), boundary_layers=[mp.PML(1.0)], resolution=20,
                    geometry=[mp.Block(mp.Vector3(mp.inf, 1, mp.inf), material=mp.Medium(epsilon=12))],
                    sources=[mp.Source(mp.ContinuousSource(frequency=0.15), component=mp.Ez, center=mp.Vector3(-7, 0))])
sim.run(until={60 * LENGTH})
value = sim.get_field_point(mp.Ez, mp.Vector3(3, 0))
if mp.am_master():
    print("field", repr(round(value.real, 10)))
""")
    return ["/usr/bin/python3", "wave.py"]


def dolfinx(where):
    write(where, "poisson.py", ("""import numpy
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py.PETSc import ScalarType
domain = mesh.create_unit_square(MPI.COMM_WORLD, 64, 64)
V = fem.FunctionSpace(domain, ("Lagrange", 1))
dofs = fem.locate_dofs_geometrical(V, lambda x: numpy.isclose(x[0], 0) | numpy.isclose(x[0], 1))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
a, L = ufl.dot(ufl.grad(u), ufl.grad(v)) * ufl.dx, fem.Constant(domain, ScalarType(1)) * v * ufl.dx
problem = fem.petsc.LinearProblem(a, L, bcs=[fem.dirichletbc(ScalarType(0), dofs, V)],
                                  petsc_options={"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-10})
for _ in range(STEPS):
    uh = problem.solve()
total = MPI.COMM_WORLD.allreduce(fem.assemble_scalar(fem.form(uh * ufl.dx)))
if MPI.COMM_WORLD.rank == 0:
    print("integral", repr(round(total, 9)))
""").replace("STEPS", str(20 * LENGTH)))
    return ["/usr/bin/python3", "poisson.py"]


# NWChem hands out its work dynamically; a bare and a measured run differed by 1e-12 in the energy, so nine decimals are compared.
# name: input, the package that the program is in, what its result is found by
APPS = {
    "gromacs": (gromacs, "gromacs", r"Total Energy.*\n(?:.*\n)?.*", "md.log"),
    "openfoam": (openfoam, "openfoam", r"Solving for \w+, Initial residual = \S+ Final residual = \S+ No Iterations \d+", None),
    "gpaw": (gpaw, "gpaw", r"energy \S+", None),
    "freefem": (freefem, "freefem++", r"integral \S+", None),
    "meep": (meep, "python3-meep-openmpi", r"field \S+", None),
    "quantum-espresso": (quantum_espresso, "quantum-espresso", r"total energy +=.*Ry", None),
    "dolfinx": (dolfinx, "python3-dolfinx", r"integral \S+", None),
    "abinit": (abinit, "abinit", r"Total energy\(eV\)=\s*\S+|etotal\s+\S+", None),
    "bagel": (bagel, "bagel", r"(?m)^ +\d+ +-\d+\.\d{8} |MP2 total energy: +-\d+\.\d+", None),
    "nwchem-mpich": (nwchem_mpich, "nwchem-mpich", r"Total DFT energy = +-\d+\.\d{9}", None),
    "nwchem": (nwchem, "nwchem-openmpi", r"Total DFT energy = +-\d+\.\d{9}", None),
    "lammps": (lammps, "lammps", r"(?m)^ +\d+(?: +-?[\d.]+){5} *$", None),
    "cp2k": (cp2k, "cp2k", r"ENERGY\| Total FORCE_EVAL.*", None),
}
RANKS = {"lammps": 4}  # others: 2
OF_MPICH = {"bagel", "nwchem-mpich"}  # others: built for Open MPI
