"""Holds verify.py against the test vectors: python3 check.py"""

import json
import pathlib
import sys

from verify import is_genuine

path = pathlib.Path(__file__).resolve().parent.parent / "vectors.json"
vectors = json.loads(path.read_text("utf-8"))["vectors"]
wrong = [
    v["name"] for v in vectors if is_genuine(v["header"], v["body"].encode(), v["secret"], 300, v["now"]) != v["valid"]
]
for name in wrong:
    print(f"wrong: {name}", file=sys.stderr)
print(f"{len(vectors) - len(wrong)} of {len(vectors)} vectors are right")
sys.exit(1 if wrong else 0)
