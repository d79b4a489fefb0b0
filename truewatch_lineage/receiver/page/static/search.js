// The search field: a combobox over jobs, datasets, columns and run ids.

import { el } from "./dom.js";
import { icon, stateBadge } from "./icons.js";
import { cut } from "./text.js";

const WAIT = 90;

/** Search with suggestions while one types. */
export class Search {
  /**
   * @param {HTMLElement} host
   * @param {function(string): Promise<Object>} ask Answers as `/api/search`.
   * @param {function(Object): void} choose Called with the result that was chosen.
   */
  constructor(host, ask, choose) {
    this.ask = ask;
    this.choose = choose;
    this.results = [];
    this.at = -1;
    this.asked = 0;
    this.list = el("ul", { id: "search-results", class: "results", role: "listbox", "aria-label": "Search results", hidden: true });
    this.input = el("input", {
      type: "search", placeholder: "Search jobs, datasets, columns or a run id", "aria-label": "Search jobs, datasets, columns or a run id",
      role: "combobox", "aria-expanded": "false", "aria-controls": "search-results", "aria-autocomplete": "list",
      autocomplete: "off", spellcheck: "false",
      on: { input: () => this.#later(), focus: () => this.#later(), keydown: (event) => this.#key(event), blur: () => this.close() },
    });
    // The field keeps the focus while a result is clicked, so that blur does not close the list first.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    host.append(icon("search"), this.input, el("kbd", { "aria-hidden": "true" }, "/"), this.list);
  }

  /** Puts the focus here. */
  focus() {
    this.input.focus();
    this.input.select();
  }

  /** Closes the list. */
  close() {
    this.asked += 1;
    this.list.hidden = true;
    this.at = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), WAIT);
  }

  async #search() {
    const turn = (this.asked += 1);
    const text = this.input.value.trim();
    const answer = await this.ask(text).catch(() => null);
    if (turn !== this.asked || document.activeElement !== this.input) return;
    this.results = answer?.results ?? [];
    this.list.replaceChildren(...this.#rows(answer, text));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.#mark(this.results.length && text ? 0 : -1);
  }

  #rows(answer, text) {
    if (!answer) return [note("The receiver does not answer.")];
    if (!this.results.length) return [note(text ? `Nothing has “${cut(text, 40)}” in its name.` : "Nothing is stored yet.")];
    const rows = this.results.map((result, index) => this.#row(result, index));
    return answer.truncated && text ? [...rows, note("There are more; type more of the name.")] : rows;
  }

  #row(result, index) {
    const place = { job: result.namespace, dataset: result.namespace, column: `${result.namespace}/${result.name}`, run: result.name }[result.type];
    const title = { column: result.field, run: result.run_id }[result.type] ?? result.name;
    const mark = result.type === "job" || result.type === "run" ? stateBadge(result.state) : icon(result.type, "kind-icon");
    return el("li", {
      id: `result-${index}`, role: "option", class: "result", "aria-selected": "false", title: `${place}/${title}`,
      on: { click: () => this.#pick(index), mousemove: () => this.at !== index && this.#mark(index) },
    }, mark, el("span", { class: "row-text" }, el("span", { class: "row-title" }, cut(title, 64)), el("span", { class: "row-note" }, cut(place, 72))),
    el("span", { class: "row-side" }, result.type));
  }

  #mark(index) {
    this.at = index;
    [...this.list.children].forEach((row, position) => row.setAttribute("aria-selected", String(position === index)));
    if (index < 0) return this.input.removeAttribute("aria-activedescendant");
    this.list.children[index].scrollIntoView({ block: "nearest" });
    return this.input.setAttribute("aria-activedescendant", `result-${index}`);
  }

  #key(event) {
    const count = this.results.length;
    const acts = {
      ArrowDown: () => (this.list.hidden ? this.#later() : count && this.#mark((this.at + 1) % count)),
      ArrowUp: () => count && this.#mark((this.at + count - 1) % count),
      Enter: () => !this.list.hidden && this.#pick(Math.max(this.at, 0)),
      Escape: () => (this.list.hidden ? this.input.blur() : this.close()),
    };
    if (!acts[event.key] || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }

  #pick(index) {
    const result = this.results[index];
    if (!result) return;
    this.close();
    this.input.blur();
    this.choose(result);
  }
}

function note(text) {
  return el("li", { class: "nothing", role: "presentation" }, text);
}
