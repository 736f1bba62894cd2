"""The least that FastAPI can do with the body of a check: what bench.own_cost compares with."""

import os
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

api = FastAPI()


class Body(BaseModel):
    message: str
    received_at: str


@api.post("/consultations/check")
async def echo(body: Body) -> Any:
    return body


if __name__ == "__main__":
    uvicorn.run(api, port=int(os.environ["PORT"]), log_config=None, access_log=False)
