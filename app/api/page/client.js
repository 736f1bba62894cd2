// A client of the booking assistant: one check as a stream of events, with retries that cannot book twice.
//
//   for await (const event of check({messages}, {signal, onWait})) { ... }
//
// yields {name: "facts" | "decision" | "narration" | "done", data}. After {name: "restart"} everything that was told
// before is void: the connection broke and the check is asked for again, under the same Idempotency-Key.
// Throws Refusal for what trying again does not mend, and what fetch throws when `signal` aborts.

const PATH = "consultations/check";
const ATTEMPTS = 5;
const LONGEST_WAIT_SECONDS = 30;
const WORTH_ANOTHER_TRY = new Set([409, 429, 502, 503]);

/** What the service said no with: a problem document (RFC 9457), see docs/problems.md. */
export class Refusal extends Error {
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
    this.mayTryAgain = WORTH_ANOTHER_TRY.has(problem.status);
    this.retryAfterSeconds = problem.retry_after_seconds;
  }
}

/** The connection failed, or ended before the answer did. */
export class ConnectionLost extends Error {
  mayTryAgain = true;
}

/**
 * @param {{message?: string, messages?: {role: string, content: string}[], conversation_id?: string}} request
 * @param {{design?: string, enforcement?: string, key?: string, signal?: AbortSignal,
 *   onWait?: (wait: {seconds: number, attempt: number, attempts: number, error: Error}) => void}} options
 */
export async function* check(request, { design, enforcement, key, signal, onWait = () => {} } = {}) {
  const headers = {
    "Content-Type": "application/json",
    Accept: "text/event-stream",
    // Made once for all attempts: if an earlier one was answered after all, its answer is played again.
    "Idempotency-Key": uniqueKey(),
    ...(design && { "X-Schema-Design": design }),
    ...(enforcement && { "X-Enforcement": enforcement }),
    ...(key && { Authorization: `Bearer ${key}` }),
  };
  for (let attempt = 1; ; attempt++) {
    let told = false;
    try {
      for await (const event of ask(headers, request, signal)) {
        told = true;
        yield event;
      }
      return;
    } catch (error) {
      if (signal?.aborted || !error.mayTryAgain || attempt === ATTEMPTS) throw error;
      if (told) yield { name: "restart" };
      const seconds = waitingSeconds(error, attempt);
      onWait({ seconds, attempt: attempt + 1, attempts: ATTEMPTS, error });
      await pause(seconds, signal);
    }
  }
}

async function* ask(headers, request, signal) {
  const answer = await connected(() => fetch(PATH, { method: "POST", headers, body: JSON.stringify(request), signal }), signal);
  if (!answer.ok) throw new Refusal(await problemOf(answer));
  for await (const { name, data } of events(answer.body, signal)) {
    if (name === "error") throw new Refusal(data);
    yield { name, data };
    if (name === "done") return;
  }
  throw new ConnectionLost("the connection ended before the answer did");
}

/** Server-sent events of a response body. EventSource cannot do this: it only sends GET. */
async function* events(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { value, done } = await connected(() => reader.read(), signal);
      if (done) return;
      const blocks = (waiting + value).split("\n\n");
      waiting = blocks.pop();
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split("\n").map((line) => [line.split(":", 1)[0], line.slice(line.indexOf(":") + 2)]));
        if (fields.event) yield { name: fields.event, data: JSON.parse(fields.data) }; // else a comment: a heartbeat
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // lets the service know that nobody reads on
  }
}

async function connected(work, signal) {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ConnectionLost("the service cannot be reached");
  }
}

async function problemOf(answer) {
  const told = Number(answer.headers.get("Retry-After")) || undefined;
  const problem = await answer.json().catch(() => ({}));
  // Something in between may have answered in place of the service.
  return { status: answer.status, title: "The request failed", detail: `status ${answer.status}`, retry_after_seconds: told, ...problem };
}

/** As long as the service says, else 1, 2, 4 ... seconds; not all clients in the same moment. */
function waitingSeconds(error, attempt) {
  const seconds = Math.min(error.retryAfterSeconds ?? 2 ** (attempt - 1), LONGEST_WAIT_SECONDS);
  return seconds * (1 + Math.random() / 4);
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** crypto.randomUUID exists only on https and localhost. */
export function uniqueKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
