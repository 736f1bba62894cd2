"""The five designs. Four ask the model to decide; the fifth asks it for facts and for words."""

from app.pipeline.design import DesignName, ModelCall
from app.pipeline.designs import base, pipeline, reasoned, table, tiered

SINGLE_CALL_DESIGNS: dict[DesignName, ModelCall] = {
    DesignName.BASE: base.CALL,
    DesignName.REASONED: reasoned.CALL,
    DesignName.TIERED: tiered.CALL,
    DesignName.TABLE: table.CALL,
}
EXTRACT, NARRATE = pipeline.EXTRACT, pipeline.NARRATE

ALL_CALLS: tuple[ModelCall, ...] = (*SINGLE_CALL_DESIGNS.values(), EXTRACT, NARRATE)
