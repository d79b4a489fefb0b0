// What the bar says of the connection.

import { byId, el } from "./dom.js";

const GONE = "The receiver does not answer; it may have been stopped. What you see may be old. Trying again every 2 seconds.";

/** Says that the receiver answers. */
export function connected() {
  say("on", "live");
  byId("notice").hidden = true;
  byId("notice").replaceChildren();
}

/** Says that it does not. */
export function gone() {
  say("gone", "not connected");
  if (!byId("notice").hidden) return;
  byId("notice").hidden = false;
  byId("notice").replaceChildren(el("span", {}, GONE));
}

/** Shows that events arrived. @param {number} count */
export function beat(count) {
  say("on", `live · ${count === 1 ? "1 new event" : `${count} new events`}`);
  const { classList } = byId("live");
  classList.remove("beat");
  requestAnimationFrame(() => classList.add("beat"));
}

function say(state, text) {
  byId("live").dataset.state = state;
  byId("live-text").textContent = text;
}
