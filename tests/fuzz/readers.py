"""Every format that the program reads: samples of it, and how it is read."""

import io
import json
import pickle
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from hypothesis import strategies as st
from safetensors.torch import save as to_safetensors

from bounds import within_seconds
from dact.cards import Card
from dact.cli.checkpoints import convert
from dact.cli.drawing import read_curves
from dact.evaluation.results_file import ResultsFile
from dact.instances import Instance, check, read, read_set, read_solution
from dact.instances.matrix_files import read_distances
from dact.instances.published import read_best_known
from dact.plotting.training import read_training
from dact.policy import CriticConfig, DecoderConfig, EncoderConfig, Policy, PolicyConfig, load_weights, make_critic
from dact.training import load_config
from dact.training.checkpoint import load_checkpoint
from fuzz import page
from fuzz.mutators import assert_one_clear_line, spoiled_bytes, spoiled_text

TSP = "NAME : a\nTYPE : TSP\nCOMMENT : best value: 14\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
TSP += "1 0 0\n2 3 0\n3 3 4\n4 0 4\nEOF\n"
MATRIX = "TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : UPPER_ROW\n"
MATRIX += "EDGE_WEIGHT_SECTION\n1 2\n3\nEOF\n"
VRP = TSP.replace("TYPE : TSP", "TYPE : CVRP\nCAPACITY : 3").replace(
    "EOF", "DEMAND_SECTION\n1 0\n2 1\n3 2\n4 3\nDEPOT_SECTION\n1\n-1\nEOF"
)
CSV = "# capacity: 3\nx,y,demand\n0,0,0\n3,0,1\n3,4,2\n0,4,3\n"
TABLES = (
    CSV,
    "0,0\n1,1\n2,0\n",
    '# capacity: 3\n# vehicles: 2\nname;demand;y;x\n"the; depot";0;0,5;0\nRome;1;0;3,25\n;2;4;3\n',
    "lat,lon,name\n52.5,13.4,Berlin\n48.2,16.4,Vienna\n-17.7,178.1,Suva\n",
    "# capacity: 3\ndepot,0,0,0\na,1,1,1\n",
)
DISTANCES = ("0,1,2,3\n4,0,5,6\n7,8,0,9\n1,2,3,0\n", ",a,b\na,,1.5\nb,2,0\n", "a;b\n0;1,5\n2;0\n")
STOPS = "route,stop,name,load,leg\n1,0,depot,0,0\n1,1,1,1,3\n1,2,2,2,4\n1,3,depot,0,5\n2,0,depot,0,0\n2,1,3,3,4\n"
ROUND = "route;name\n1;1\n1;2\n1;3\n1;4\n1;1\n"
VALUES = ("name,value\na,20\nb,3.5\n", "a;20\nb;3,5\n", "optimum,name\n20,a\n")
TOML = 'name = "a"\nproblem = "cvrp"\nsize = 20\nsizes = "20-40/10"\n[schedule]\nrows = 4\nhorizon = 8\n'
METRICS = "segments,minutes,event,reward\n0,0.0,start,\n3,0.5,best,0.25\n"
ANSWERS = '{"name": "a", "steps": 9, "seconds": 0.5, "best_known": 7, "trace": [[0, 0.1, 9.5], [4, 0.2, 8]]}\n'
RESULTS = '{"instance": 0, "cost": 1.5, "reference": null, "run": "x"}\n{"instance": 1, "cost": 2.5, "run": "x"}\n'
SECONDS = 5
"""Of this process's own time for one file: none needs a hundredth of it."""


@dataclass(frozen=True)
class Format:
    """Samples of a format, and a reader that raises ValueError for what it refuses."""

    name: str
    samples: tuple[bytes, ...]
    reader: Callable[[Path], object]
    text: bool = True
    odd: st.SearchStrategy[bytes] | None = None
    """Contents of its own kind, besides spoiled samples."""

    def spoiled(self) -> st.SearchStrategy[bytes]:
        """Samples with faults, and rubbish."""
        byte_wise = st.sampled_from(self.samples).flatmap(spoiled_bytes)
        byte_wise = byte_wise if self.odd is None else byte_wise | self.odd
        if not self.text:
            return byte_wise | st.binary(max_size=200)
        texts = st.sampled_from(self.samples).map(bytes.decode).flatmap(spoiled_text)
        return texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | byte_wise | st.binary(max_size=100)

    def survives(self, content: bytes, counts: Counter[str]) -> None:
        """Read the content: a sound object, or one clear line; never anything else, and never for long."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.name
            path.write_bytes(content)
            try:
                with within_seconds(SECONDS):
                    self.reader(path)
            except ValueError as error:
                assert_one_clear_line(str(error), path)
                counts["refused"] += 1
            else:
                counts["read"] += 1


def _archive(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _array(values: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def _encoded(*texts: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in texts)


def _instance(path: Path) -> None:
    """Sound: its distances and points are finite, and so are those of the set of one."""
    found = read(path)
    assert np.isfinite(found.distances()).all()
    assert np.isfinite(found.points()).all()
    if found.matrix is None:
        assert len(read_set(path)) == 1


def _decimal(path: Path) -> None:
    """Decimal demands in a unit: what is counted never is less than what was asked for."""
    found = read(path, capacity=4.5, demand_unit=0.25)
    assert found.capacity == 18
    assert found.demand.max() <= found.capacity


def _with_matrix(path: Path) -> None:
    """A table of loads whose distances are the file that is spoiled; where the two do not fit, the table is named."""
    table = path.with_name("table.csv")
    table.write_text("name,demand\na,0\nb,1\n")
    try:
        found = read(table, capacity=3, matrix=path)
    except ValueError as error:
        raise ValueError(str(error).replace(str(table), str(path))) from None
    assert (found.rule, found.size) == ("explicit", 2)


def _distances(path: Path) -> None:
    assert np.isfinite(read_distances(path).matrix).all()


def _set(path: Path) -> None:
    for found in read_set(path):
        assert np.isfinite(found.coordinates).all()


def _solution(problem: str) -> Callable[[Path], None]:
    points = np.array([[0, 0], [3, 0], [3, 4], [0, 4]])
    loads = {"demand": np.array([0, 1, 2, 3]), "capacity": 3} if problem == "cvrp" else {}
    solved = Instance(name="a", problem=problem, rule="euc_2d", coordinates=points, **loads)

    def reader(path: Path) -> None:
        assert check(solved, read_solution(path, solved)).feasible

    return reader


def _weights() -> bytes:
    config = PolicyConfig(
        features=2,
        encoder_config=EncoderConfig(dim=8, layers=1, heads=2, hidden=8),
        decoder_config=DecoderConfig(heads=2, head_dim=4, hidden=4),
        critic_config=CriticConfig(heads=2, hidden=4, last=4),
    )
    tensors = {f"actor.{name}": x for name, x in Policy(config).state_dict().items()}
    tensors |= {f"critic.{name}": x for name, x in make_critic(config).state_dict().items()}
    card = Card(name="a", problem="tsp", size=20)
    return to_safetensors(tensors, {"dact": json.dumps({"policy": config.to_dict(), "card": vars(card)})})


def _saved(content: object) -> bytes:
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


def formats() -> list[Format]:
    """All of them. A new reader belongs here."""
    points = [[0.1, 0.2], [0.3, 0.4], [1, 2]]
    cvrp = {"depot": np.zeros((1, 2)), "locs": np.ones((1, 2, 2)), "demand": np.ones((1, 2), np.uint8), "capacity": 3}
    pickles = ([points], [([0.5, 0.5], points, [3, 1, 2], 9.0)])
    return [
        Format("a.tsp", (TSP.encode(), MATRIX.encode()), _instance),
        Format("a.vrp", _encoded(VRP, VRP.replace("CAPACITY", "VEHICLES : 2\nCAPACITY")), _instance),
        Format("a.csv", _encoded(*TABLES, *DISTANCES), _instance),
        Format("units.csv", (b"x,y,demand\n0,0,0\n1,0,0.3\n1,1,4.25\n", b"x;y;demand\n0;0;0\n1;0;0,3\n"), _decimal),
        Format("a.npy", tuple(_array(np.ones((4, 4), kind)) for kind in ("<f8", "<i4", "<f2")), _instance, text=False),
        Format("matrix.csv", _encoded(*DISTANCES), _distances),
        Format("beside.csv", _encoded(*DISTANCES[1:]), _with_matrix),
        Format("values.csv", _encoded(*VALUES), read_best_known),
        Format("a.npz", (_archive(coords=np.zeros((1, 3, 2), np.float32)), _archive(**cvrp)), _set, text=False),
        Format("a.pkl", tuple(pickle.dumps(each, protocol) for each in pickles for protocol in (0, 2, 4)), _set, False),
        Format("a.tour", (b"DIMENSION : 4\nTOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n",), _solution("tsp")),
        Format("a.sol", (b"Route #1: 1 2\nRoute #2: 3\nCost 20\n",), _solution("cvrp")),
        Format("a.json", (b'{"routes":\n[[1,\n2],\n[3]],\n"cost":\n20}\n',), _solution("cvrp")),
        Format("stops.csv", (STOPS.encode(),), _solution("cvrp")),
        Format("round.csv", (ROUND.encode(),), _solution("tsp")),
        Format("request.json", page.samples(), page.request, odd=page.odd_requests()),
        Format("a.safetensors", (_weights(),), load_weights, text=False),
        Format("a.toml", (TOML.encode(),), load_config),
        Format("metrics.csv", (METRICS.encode(),), lambda path: read_training(path.parent)),
        Format("a.jsonl", (RESULTS.encode(),), lambda path: ResultsFile(path, "x").read()),
        Format("answers.jsonl", (ANSWERS.encode(),), read_curves),
        Format("checkpoint.pt", (_saved({"format": 2, "config": {}}),), load_checkpoint, text=False),
        Format("authors.pt", (_saved({"actor": {"a": torch.zeros(2)}}),), _imported, text=False),
    ]


def _imported(path: Path) -> None:
    convert(path, path.with_suffix(".safetensors"), size=20)
