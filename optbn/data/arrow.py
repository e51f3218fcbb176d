"""Arrow: what its types declare, and the way from a Dataset to an Arrow table and back without loss.

Floating-point and decimal columns are real; dictionaries and Booleans are categorical with the levels of the
dictionary in its order, or false, true (an ordinal one where the dictionary says so; an enumeration of polars fixes
its levels and claims no order). Whole numbers and strings follow the rule of `schema`. A table made here
carries the schema as JSON in its metadata, so levels never seen, orders and ranges survive parquet and Arrow files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optbn.data.dataset import Categorical
from optbn.data.schema import Declared, Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from optbn.data.dataset import Dataset

KEY = b"optbn.schema"


def declarations(where: str, schema: Any) -> tuple[Mapping[str, Declared], dict[str, bool]]:
    """What an Arrow schema says: kinds by its types (or all of it, if optbn wrote the table), and which columns bring
    their levels in a dictionary (and whether these are ordered)."""
    import pyarrow as pa

    written = (schema.metadata or {}).get(KEY)
    if written is not None:
        said = Schema.of(json.loads(written)).columns
        if all(name in said for name in schema.names):
            return said, {}
    declared: dict[str, Declared] = {}
    levels_given: dict[str, bool] = {}
    for field in schema:
        kind = field.type
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            declared[field.name] = "real"
        elif pa.types.is_dictionary(kind):
            declared[field.name] = "categorical"
            enumeration = any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())
            levels_given[field.name] = bool(kind.ordered) and not enumeration
        elif pa.types.is_boolean(kind):
            declared[field.name] = Categorical(("false", "true"))
    return declared, levels_given


def to_arrow(data: Dataset) -> pa.Table:
    """The table of the data: dictionaries with level labels and doubles, codes and numbers shared, not copied."""
    import pyarrow as pa

    columns = []
    for domain, values in zip(data.domains, data.columns, strict=True):
        array = pa.array(values)
        if isinstance(domain, Categorical):
            levels = pa.array(domain.levels, pa.string())
            array = pa.DictionaryArray.from_arrays(array, levels, ordered=domain.ordered)
        columns.append(array)
    table = pa.table(columns, names=list(data.names))
    return table.replace_schema_metadata({KEY: Schema(dict(zip(data.names, data.domains, strict=True))).to_json()})
