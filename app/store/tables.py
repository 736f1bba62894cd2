"""The call log's tables. What customers and models wrote stands only in the two *_contents tables.

All but the receipts are partitioned by month over the id of the check, a UUIDv7: an id tells its month, so a read by id
opens one partition and retention drops whole ones (partitions.py).
"""

from typing import get_args

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.store.records import CallKind, CheckOutcome

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

MOMENT = DateTime(timezone=True)
# SQL NULL for None: a JSON null would make "is null" lie to auditors.
JSON_VALUE = JSONB(none_as_null=True)


def _one_of(column: str, closed_set: object) -> CheckConstraint:
    values = ", ".join(f"'{value}'" for value in get_args(closed_set))
    return CheckConstraint(f"{column} IN ({values})", name=column)


consultations = Table(
    "consultations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("received_at", MOMENT, nullable=False),
    Column("started_at", MOMENT, nullable=False, index=True),
    Column("finished_at", MOMENT, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("conversation_id", Text, index=True),
    Column("request_id", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("design", Text, nullable=False),
    Column("enforcement", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("error", Text),
    Column("service_version", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("facts", JSON_VALUE),
    Column("decision", JSON_VALUE),
    Column("action", Text, comment="copied from decision, for SQL"),
    Column("reason_code", Text, comment="copied from decision, for SQL"),
    Column("policy_version", Text, nullable=False),
    Column("policy_hash", Text, nullable=False),
    Column("trace", JSON_VALUE),
    Column("valid", Boolean),
    Column("strict_json", Boolean),
    Column("field_order_ok", Boolean),
    Column("consistent", Boolean),
    Column("flags", ARRAY(Text), nullable=False),
    Column("narration_source", Text),
    Column("usage", JSON_VALUE, nullable=False),
    Column("timings_ms", JSON_VALUE, nullable=False),
    Column("idempotency_key", Text),
    Column("fingerprint", Text),
    Column("spool_boot", Uuid, comment="the process that wrote the record"),
    Column("spool_sequence", BigInteger, comment="dense from 1 within a boot: a gap is a lost record"),
    _one_of("outcome", CheckOutcome),
    Index("ix_consultations_caller_idempotency_key", "caller", "idempotency_key"),
    Index("ix_consultations_spool_boot_spool_sequence", "spool_boot", "spool_sequence"),
    postgresql_partition_by="RANGE (id)",
)

llm_calls = Table(
    "llm_calls",
    metadata,
    Column("consultation_id", Uuid, ForeignKey(consultations.c.id), primary_key=True),
    Column("ordinal", Integer, primary_key=True, comment="from 0, in the order called"),
    Column("id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("prompt_version", Text, nullable=False),
    Column("prompt_hash", Text, nullable=False),
    Column("schema_hash", Text, nullable=False),
    Column("constrained", Boolean, nullable=False),
    Column("model", Text, nullable=False),
    Column("started_at", MOMENT, nullable=False),
    Column("latency_ms", Double, nullable=False),
    Column("temperature", Double, nullable=False),
    Column("seed", BigInteger),
    Column("max_tokens", Integer, nullable=False),
    Column("finish_reason", Text),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("error", Text),
    _one_of("kind", CallKind),
    postgresql_partition_by="RANGE (consultation_id)",
)

consultation_contents = Table(
    "consultation_contents",
    metadata,
    Column("consultation_id", Uuid, ForeignKey(consultations.c.id), primary_key=True),
    Column("messages", JSON_VALUE, nullable=False),
    Column("response_text", Text),
    postgresql_partition_by="RANGE (consultation_id)",
)

llm_call_contents = Table(
    "llm_call_contents",
    metadata,
    Column("consultation_id", Uuid, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("raw_output", Text, nullable=False),
    ForeignKeyConstraint(
        ["consultation_id", "ordinal"],
        [llm_calls.c.consultation_id, llm_calls.c.ordinal],
        name="fk_llm_call_contents_call",
    ),
    postgresql_partition_by="RANGE (consultation_id)",
)

erasures = Table(
    "erasures",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("consultation_id", Uuid, index=True),
    Column("conversation_id", Text, index=True),
    Column("requested_by", Text, nullable=False),
    Column("requested_at", MOMENT, nullable=False),
    Column("contents_erased", Integer, nullable=False),
    Column("calls_erased", Integer, nullable=False),
    comment="a receipt for each erasure; contents that arrive later for what it names are not stored",
)
"""Of one check (consultation_id) or of a conversation's checks up to that moment (conversation_id)."""

PARTITIONED = (consultations, llm_calls, consultation_contents, llm_call_contents)
"""Parents before those that refer to them."""
