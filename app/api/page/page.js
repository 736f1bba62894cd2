// The page: a conversation, and beside it what the service understood of it. The work is in client.js.

import { check, uniqueKey } from "./client.js";

const FACTS = {
  customer_age: { tag: "A", kind: "age", name: "age", say: (years) => `${years} years` },
  price_components_pence: { tag: "£", kind: "price", name: "price", say: (all) => all.map(pounds).join(" + ") || "none" },
  total_pence: { tag: "£", kind: "price", name: "total", say: pounds },
  requested_date: { tag: "D", kind: "date", name: "date", say: longDate },
  requested_time: { tag: "T", kind: "time", name: "time", say: (time) => time },
};
const ACTIONS = {
  book_appointment: "Booked",
  offer_alternative: "A reduced-scope consultation is offered",
  decline: "Declined",
  escalate_human: "A person decides",
};
const REASONS = {
  eligible: "all rules are met",
  under_age: "under the age limit",
  over_limit: "over the price limit",
  insufficient_info: "something is missing or needs a person's judgement",
};
const EXAMPLES = [
  "Hi, I am 34 and would like the £2,400 course and the £150 check-up on 14 December 2027 at 10am.",
  "I'm 45. Could I have the £6,500 implants and the £4,250 sedation package on 3 March 2027 at 2pm?",
  "My daughter is 16, she would like the £900 treatment on 5 May 2027 at 9:30.",
  "Could I come in tomorrow at 11am for the £1,200 whitening?",
];

const $ = (id) => document.getElementById(id);
let conversation = begin();
let running = null;

function begin() {
  return { id: uniqueKey(), messages: [], bubbles: [] };
}

// Sending

async function send(text) {
  $("welcome").hidden = true;
  for (const button of document.querySelectorAll(".turn.wrong button")) button.remove();
  conversation.messages.push({ role: "customer", content: text });
  conversation.bubbles.push(bubble("customer", text));
  await answer();
}

/** Ask about the conversation as it stands; its last turn is the customer's. */
async function answer() {
  const mine = conversation;
  const reply = bubble("assistant waiting");
  const options = { design: $("design").value, enforcement: $("enforcement").value, key: $("key").value.trim() };
  running = new AbortController();
  show(true);
  try {
    const request = { messages: mine.messages, conversation_id: mine.id };
    const wait = (waiting) => tell(reply, `${sentence(waiting.error.message)} Trying again in ${Math.ceil(waiting.seconds)} s, attempt ${waiting.attempt} of ${waiting.attempts}.`);
    for await (const event of check(request, { ...options, signal: running.signal, onWait: wait })) {
      if (mine !== conversation) return;
      SHOWN[event.name]?.(reply, event.data);
    }
  } catch (error) {
    if (mine === conversation) failed(reply, error, running.signal.aborted);
  } finally {
    if (mine === conversation) show(false);
  }
}

const SHOWN = {
  facts: (reply, data) => showFacts(data.facts),
  decision: (reply, data) => showDecision(reply, data),
  narration(reply, data) {
    if (data.replaces) wordsOf(reply).replaceChildren();
    wordsOf(reply).append(data.text); // a node for each piece, so that a screen reader reads each once
    follow();
  },
  done(reply, data) {
    reply.classList.remove("waiting");
    conversation.messages.push({ role: "assistant", content: data.response_text });
    conversation.bubbles.push(reply);
    showEnding(data);
  },
  restart(reply) {
    reply.querySelector(".verdict")?.remove();
    wordsOf(reply).replaceChildren();
    clearUnderstood();
  },
};

function failed(reply, error, wasCancelled) {
  reply.classList.remove("waiting");
  reply.classList.add("wrong");
  reply.querySelector(".verdict")?.remove();
  clearUnderstood();
  lookAtHealth();
  if (wasCancelled) return tell(reply, "Cancelled before it was answered."), again(reply);
  const problem = error.problem ?? { title: error.mayTryAgain ? "No answer after several attempts" : "This page failed", detail: error.message };
  tell(reply, `${problem.title}. ${sentence(problem.detail)}${problem.request_id ? ` Request ${problem.request_id}.` : ""}`);
  if (problem.status === 401 || problem.status === 403) {
    $("options").open = true;
    $("key").focus();
  }
  again(reply);
}

function again(reply) {
  const button = element("button", { type: "button", className: "quiet", textContent: "Try again" });
  button.addEventListener("click", () => (reply.remove(), $("message").focus(), answer()));
  reply.append(element("br"), button);
  follow();
}

// The conversation

function bubble(kind, text = "") {
  const made = element("div", { className: `turn ${kind}` });
  made.append(element("span", { className: "who", textContent: kind.startsWith("customer") ? "You" : "Assistant" }));
  made.append(element("span", { className: "words", textContent: text }));
  $("log").append(made);
  follow();
  return made;
}

const wordsOf = (turn) => turn.querySelector(".words");
const tell = (turn, text) => (wordsOf(turn).replaceChildren(text), follow());

function follow() {
  $("log").scrollTop = $("log").scrollHeight;
  if (matchMedia("(max-width: 52rem)").matches) $("log").lastElementChild.scrollIntoView({ block: "nearest" });
}

function show(isRunning) {
  $("send").disabled = $("design").disabled = $("enforcement").disabled = isRunning;
  $("cancel").hidden = !isRunning;
}

// What was understood

function clearUnderstood() {
  $("result").hidden = $("ending").hidden = true;
  $("nothing-yet").hidden = false;
  for (const [turn, turnBubble] of conversation.bubbles.entries()) {
    wordsOf(turnBubble).replaceChildren(conversation.messages[turn].content);
  }
}

function showFacts(facts) {
  clearUnderstood();
  $("result").hidden = false;
  $("nothing-yet").hidden = true;
  $("decision").replaceChildren();
  $("trace").replaceChildren();
  if (!facts) {
    $("facts").replaceChildren(element("li", { textContent: "In this design the model decides by itself; it states no facts." }));
    return;
  }
  $("facts").replaceChildren(...Object.entries(facts).filter(([name]) => name in FACTS).map(([name, fact]) => factItem(FACTS[name], fact)));
  for (const [turn, turnBubble] of conversation.bubbles.entries()) {
    wordsOf(turnBubble).replaceChildren(...highlighted(conversation.messages[turn].content, spansOf(facts, turn)));
  }
}

function factItem(known, fact) {
  const value = fact.value === null ? "not known" : known.say(fact.value);
  const status = element("span", { className: `status ${fact.status === "verified" ? "verified" : "doubtful"}`, textContent: fact.status });
  const item = element("li");
  item.append(element("span", { className: `tag ${known.kind}`, textContent: known.tag, ariaHidden: "true" }));
  item.append(element("span", { textContent: `${known.name}: ${value}` }), status);
  item.append(element("span", { className: "note", textContent: fact.note }));
  if (fact.agreement === "overruled" || fact.agreement === "disagreed") {
    item.append(element("span", { className: "note", textContent: `the model said otherwise: ${fact.agreement}` }));
  }
  return item;
}

function spansOf(facts, turn) {
  return Object.entries(facts).filter(([name]) => name in FACTS && name !== "total_pence")
    .flatMap(([name, fact]) => fact.evidence.filter((span) => span.turn === turn).map((span) => ({ ...span, ...FACTS[name] })));
}

/** Text with its evidence marked. Offsets count code points, JavaScript counts UTF-16 units. */
function highlighted(text, spans) {
  const points = Array.from(text);
  const cuts = [...new Set([0, points.length, ...spans.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, n) => {
    const start = cuts[n];
    const piece = points.slice(start, end).join("");
    const held = spans.filter((span) => span.start <= start && span.end >= end);
    if (!held.length) return piece;
    const mark = element("mark", { className: held[0].kind, title: held.map((span) => span.name).join(", "), textContent: piece });
    const ends = held.filter((span) => span.end === end);
    if (ends.length) {
      mark.append(element("sup", { textContent: ends.map((span) => span.tag).join(""), ariaHidden: "true" }));
      mark.append(element("span", { className: "said", textContent: ` (${ends.map((span) => span.name).join(", ")})` }));
    }
    return mark;
  });
}

function showDecision(reply, decision) {
  const { action, appointment, eligibility, missing_facts: missing } = decision;
  const when = appointment ? `${longDate(appointment.date)}, ${appointment.time}` : "";
  const card = $("decision");
  card.className = `card ${action}`;
  card.replaceChildren(element("strong", { textContent: when ? `${ACTIONS[action]}: ${when}` : ACTIONS[action] }));
  card.append(sentence(REASONS[eligibility.reason_code]), missing.length ? ` Not known: ${missing.map((name) => name.replaceAll("_", " ")).join(", ")}.` : "");
  $("trace").replaceChildren(...decision.policy.trace.map(traceItem));
  if (!decision.policy.trace.length) $("trace").append(element("li", { textContent: "None: the model decided." }));
  const verdict = element("span", { className: `verdict ${action}`, textContent: when ? `${ACTIONS[action]}: ${when}` : ACTIONS[action] });
  wordsOf(reply).before(verdict);
  wordsOf(reply).replaceChildren();
  follow();
}

function traceItem(step) {
  const item = element("li", { className: step.outcome });
  item.append(element("span", { textContent: step.outcome === "decided" ? "▶ decided" : step.outcome.replace("_", " ") }));
  item.append(element("span", { textContent: step.clause }));
  const inputs = Object.entries(step.inputs).map(([name, value]) => `${name} ${value ?? "unknown"}`).join(", ");
  item.append(element("span", { className: "inputs", textContent: `${step.rule}: ${inputs}` }));
  return item;
}

function showEnding(data) {
  $("ending").hidden = false;
  $("timings").tBodies[0].replaceChildren(...Object.entries(data.timings_ms).map(([stage, milliseconds]) => {
    const row = element("tr");
    row.append(element("td", { textContent: stage }), element("td", { textContent: milliseconds.toFixed(1) }));
    return row;
  }));
  const output = {
    "answered by": `${data.model}, ${data.design}, ${data.enforcement}`,
    "words by": data.narration_source,
    "valid output": yes(data.valid), "strict JSON": yes(data.strict_json), "fields in order": yes(data.field_order_ok),
    "words agree": yes(data.consistent),
    flags: data.flags.join(", ") || "none",
    tokens: `${data.usage.prompt_tokens} read, ${data.usage.completion_tokens} written, ${data.usage.calls} calls`,
    policy: `${data.policy.version}, ${data.policy.hash.slice(0, 12)}`,
    check: data.id,
  };
  $("output").replaceChildren(...Object.entries(output).flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));
  $("json").textContent = JSON.stringify(data, null, 2);
}

// Small things

const element = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
const yes = (value) => (value ? "yes" : "no");

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}

function pounds(pence) {
  return new Intl.NumberFormat("en-GB", { style: "currency", currency: "GBP" }).format(pence / 100);
}

function longDate(iso) {
  const day = new Date(`${iso}T12:00:00Z`);
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" }).format(day);
}

async function lookAtHealth() {
  try {
    const { ready, parts } = await (await fetch("readyz")).json();
    const why = Object.entries(parts).filter(([, state]) => state !== "ok").map(([part, state]) => `${part}: ${state}`);
    $("health").textContent = ready ? "ready" : `not ready: ${why.join(", ")}`;
  } catch {
    $("health").textContent = "the service cannot be reached";
  }
}

$("examples").append(...EXAMPLES.map((text) => {
  const button = element("button", { type: "button", textContent: text });
  button.addEventListener("click", () => (($("message").value = text), $("message").focus()));
  const item = element("li");
  item.append(button);
  return item;
}));

$("compose").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("message").value;
  if ($("send").disabled || !text.trim()) return;
  $("message").value = "";
  // A message that was never answered is no part of the conversation, unless its "Try again" is taken.
  if (conversation.messages.at(-1)?.role === "customer") {
    conversation.messages.pop();
    conversation.bubbles.pop().classList.add("unanswered");
  }
  send(text);
});

$("message").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("compose").requestSubmit();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});
$("cancel").addEventListener("click", () => (running?.abort(), $("message").focus()));

$("new").addEventListener("click", () => {
  running?.abort();
  clearUnderstood();
  conversation = begin();
  show(false);
  for (const turn of document.querySelectorAll(".turn")) turn.remove();
  $("welcome").hidden = false;
  $("message").focus();
});

lookAtHealth();
setInterval(lookAtHealth, 10_000);
