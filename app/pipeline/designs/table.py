"""Design 4: every predicate of the policy as a field of its own."""

from app.pipeline.design import DesignName, single_call

CALL = single_call(
    DesignName.TABLE,
    version="1",
    before={
        "customer_age": {"type": "integer"},
        "age_within_18_to_70": {"type": "boolean"},
        "total_requested_value": {"type": "number"},
        "total_at_most_10000": {"type": "boolean"},
        "total_at_most_12000": {"type": "boolean"},
    },
    before_format="""  "customer_age": integer,
  "age_within_18_to_70": true | false,
  "total_requested_value": number,
  "total_at_most_10000": true | false,
  "total_at_most_12000": true | false,
""",
    max_tokens=360,
)
