"""The call log: checks, calls, and their contents apart, each by month; receipts of erasures."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


PARTITIONED = ("consultations", "llm_calls", "consultation_contents", "llm_call_contents")


def upgrade() -> None:
    _create_consultations()
    _create_llm_calls()
    _create_contents()
    _create_erasures()
    for table in PARTITIONED:
        # Months are made ahead by app/store/partitions.py; this one catches what they miss, so that no write fails.
        op.execute(f"CREATE TABLE {table}_default PARTITION OF {table} DEFAULT")


def downgrade() -> None:
    raise NotImplementedError("migrations only add; restore a backup instead")


def _create_consultations() -> None:
    op.create_table(
        "consultations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT, nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text()),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("design", sa.Text(), nullable=False),
        sa.Column("enforcement", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("service_version", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("facts", JSONB()),
        sa.Column("decision", JSONB()),
        sa.Column("action", sa.Text(), comment="copied from decision, for SQL"),
        sa.Column("reason_code", sa.Text(), comment="copied from decision, for SQL"),
        sa.Column("policy_version", sa.Text(), nullable=False),
        sa.Column("policy_hash", sa.Text(), nullable=False),
        sa.Column("trace", JSONB()),
        sa.Column("valid", sa.Boolean()),
        sa.Column("strict_json", sa.Boolean()),
        sa.Column("field_order_ok", sa.Boolean()),
        sa.Column("consistent", sa.Boolean()),
        sa.Column("flags", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("narration_source", sa.Text()),
        sa.Column("usage", JSONB(), nullable=False),
        sa.Column("timings_ms", JSONB(), nullable=False),
        sa.Column("idempotency_key", sa.Text()),
        sa.Column("fingerprint", sa.Text()),
        sa.Column("spool_boot", sa.Uuid(), comment="the process that wrote the record"),
        sa.Column("spool_sequence", sa.BigInteger(), comment="dense from 1 within a boot: a gap is a lost record"),
        sa.PrimaryKeyConstraint("id", name="pk_consultations"),
        sa.CheckConstraint(
            "outcome IN ('completed', 'invalid_output', 'timed_out', 'cancelled', 'refused', 'failed', 'interrupted')",
            name=op.f("ck_consultations_outcome"),
        ),
        postgresql_partition_by="RANGE (id)",
    )
    op.create_index("ix_consultations_started_at", "consultations", ["started_at"])
    op.create_index("ix_consultations_conversation_id", "consultations", ["conversation_id"])
    op.create_index("ix_consultations_caller_idempotency_key", "consultations", ["caller", "idempotency_key"])
    op.create_index("ix_consultations_spool_boot_spool_sequence", "consultations", ["spool_boot", "spool_sequence"])


def _create_llm_calls() -> None:
    op.create_table(
        "llm_calls",
        sa.Column("consultation_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="from 0, in the order called"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("prompt_version", sa.Text(), nullable=False),
        sa.Column("prompt_hash", sa.Text(), nullable=False),
        sa.Column("schema_hash", sa.Text(), nullable=False),
        sa.Column("constrained", sa.Boolean(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("temperature", sa.Double(), nullable=False),
        sa.Column("seed", sa.BigInteger()),
        sa.Column("max_tokens", sa.Integer(), nullable=False),
        sa.Column("finish_reason", sa.Text()),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("consultation_id", "ordinal", name="pk_llm_calls"),
        sa.ForeignKeyConstraint(
            ["consultation_id"], ["consultations.id"], name="fk_llm_calls_consultation_id_consultations"
        ),
        sa.CheckConstraint("kind IN ('decide', 'extract', 'narrate')", name=op.f("ck_llm_calls_kind")),
        postgresql_partition_by="RANGE (consultation_id)",
    )


def _create_contents() -> None:
    op.create_table(
        "consultation_contents",
        sa.Column("consultation_id", sa.Uuid(), nullable=False),
        sa.Column("messages", JSONB(), nullable=False),
        sa.Column("response_text", sa.Text()),
        sa.PrimaryKeyConstraint("consultation_id", name="pk_consultation_contents"),
        sa.ForeignKeyConstraint(
            ["consultation_id"], ["consultations.id"], name="fk_consultation_contents_consultation_id_consultations"
        ),
        postgresql_partition_by="RANGE (consultation_id)",
    )
    op.create_table(
        "llm_call_contents",
        sa.Column("consultation_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("raw_output", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("consultation_id", "ordinal", name="pk_llm_call_contents"),
        sa.ForeignKeyConstraint(
            ["consultation_id", "ordinal"],
            ["llm_calls.consultation_id", "llm_calls.ordinal"],
            name="fk_llm_call_contents_call",
        ),
        postgresql_partition_by="RANGE (consultation_id)",
    )


def _create_erasures() -> None:
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("consultation_id", sa.Uuid()),
        sa.Column("conversation_id", sa.Text()),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("requested_at", MOMENT, nullable=False),
        sa.Column("contents_erased", sa.Integer(), nullable=False),
        sa.Column("calls_erased", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
        comment="a receipt for each erasure; contents that arrive later for what it names are not stored",
    )
    op.create_index("ix_erasures_consultation_id", "erasures", ["consultation_id"])
    op.create_index("ix_erasures_conversation_id", "erasures", ["conversation_id"])
