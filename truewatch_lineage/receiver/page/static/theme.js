// Dark and light: as the system says, until the reader chooses.

import { icon } from "./icons.js";

const KEPT = "receiver-theme";
const CHOICES = ["auto", "light", "dark"];
const WORDS = { auto: "as the system", light: "light", dark: "dark" };

/**
 * Applies the kept choice and lets a button change it.
 * @param {HTMLButtonElement} control
 * @param {function(): void} changed Called after each change, for what is drawn on a canvas.
 */
export function startTheme(control, changed) {
  let choice = CHOICES.includes(localStorage.getItem(KEPT)) ? localStorage.getItem(KEPT) : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = choice;
    const next = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    control.setAttribute("aria-label", `Theme: ${WORDS[choice]}; switch to ${WORDS[next]}`);
    control.title = `Theme: ${WORDS[choice]}`;
    control.replaceChildren(icon(choice));
    changed();
  };
  control.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    localStorage.setItem(KEPT, choice);
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  apply();
}
