// What stands in the graph's place: an empty store, an unknown node, a token that is asked for, a failure.

import { button, el } from "./dom.js";
import { copyButton } from "./copy.js";

/**
 * Tells how to send the first event.
 * @param {string} origin The receiver's own address.
 * @param {boolean} token Whether it asks for a token.
 */
export function emptyStore(origin, token) {
  const command = () => curl(origin, token);
  return panel("No event has arrived yet",
    el("p", {}, "Send one, and this page shows it at once:"),
    el("div", { class: "command" }, el("pre", { tabindex: 0, "aria-label": "Command" }, command()), copyButton(command, "the command", "Copy")),
    el("p", {}, "Or point a client here: the transport’s ", el("code", {}, "url"), " is ", el("code", {}, origin),
      ". Files of events go in by ", el("code", {}, "truewatch-lineage send FILE…"), "."));
}

/** Tells that the node in the address is not stored. @param {string} id @param {function(): void} home */
export function unknownNode(id, home) {
  return panel("This is not stored here", el("p", {}, "No event named ", el("code", {}, id), ", or it was forgotten since."),
    button({ class: "button main" }, home, "Show everything"));
}

/** Asks for the receiver's token. @param {boolean} wrong Whether one was refused. @param {function(string): void} use */
export function askToken(wrong, use) {
  const field = el("input", { type: "password", autocomplete: "off", "aria-label": "Token", required: true });
  const form = el("form", { class: "token", on: { submit: (event) => {
    event.preventDefault();
    use(field.value);
  } } }, field, el("button", { type: "submit", class: "button main" }, "Open"));
  return panel("This receiver asks for its token", el("p", {}, wrong ? "The last one was not one of its tokens. " : "",
    "It is kept in this tab only and sent nowhere else."), form);
}

/** Tells what went wrong. @param {string} message @param {function(): void} again */
export function failure(message, again) {
  return panel("The graph can’t be shown", el("p", {}, message), button({ class: "button main" }, again, "Try again"));
}

function panel(title, ...children) {
  return el("div", { class: "panel" }, el("h2", {}, title), ...children);
}

function curl(origin, token) {
  const event = {
    eventType: "COMPLETE",
    eventTime: new Date().toISOString(),
    run: { runId: uuid() },
    job: { namespace: "example", name: "daily_orders" },
    inputs: [{ namespace: "example-db", name: "shop.orders" }],
    outputs: [{ namespace: "example-db", name: "shop.daily_orders" }],
    producer: "https://example.com/my-pipeline",
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  };
  const header = token ? " -H \"X-Token: $TOKEN\"" : "";
  return `curl ${origin}/v1/write/openlineage${header} \\\n  -H 'Content-Type: application/json' -d '${JSON.stringify(event)}'`;
}

/** `crypto.randomUUID` exists over https and on this machine only. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
