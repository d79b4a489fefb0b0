// Copies texts, and says so.

import { button, byId } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Makes a button that copies.
 * @param {string|function(): string} text
 * @param {string} what Names what is copied, such as "run id".
 * @param {string} [label] Shown beside the icon.
 */
export function copyButton(text, what, label = "") {
  const control = button({ class: label ? "button" : "copy", "aria-label": `Copy ${what}`, title: `Copy ${what}` }, async () => {
    const copied = await toClipboard(typeof text === "function" ? text() : text);
    say(copied ? `Copied ${what}` : "This browser does not let the page copy");
    if (!copied) return;
    control.firstChild.replaceWith(icon("done"));
    setTimeout(() => control.firstChild.replaceWith(icon("copy")), 1200);
  }, icon("copy"), label);
  return control;
}

let clearing = 0;

/** Says something briefly, also to screen readers. @param {string} message */
export function say(message) {
  const place = byId("said");
  place.textContent = message;
  place.classList.add("shown");
  clearTimeout(clearing);
  clearing = setTimeout(() => place.classList.remove("shown"), 1800);
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return oldWay(text);
  }
}

/** Without https, and not on this machine, browsers have no clipboard API. */
function oldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
