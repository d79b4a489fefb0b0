// Builds elements. Text of events reaches the page only through here: as text nodes and inert attributes.

const SVG = "http://www.w3.org/2000/svg";
const REFUSED = /^(on|style$|href$|src|xlink)/;

/**
 * @typedef {Object<string, string|number|boolean|null|undefined|Function|Object<string, string>>} Attributes
 * `class`, `title`, `aria-*`, … as attributes; `on` maps event names to listeners; `data` is for dataset.
 * null, undefined and false leave an attribute out.
 */

/**
 * Makes an HTML element.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Node|string|number|null|undefined|false|Array)} children Strings become text nodes; nothing is parsed.
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Makes an SVG element; the arguments are as for `el`.
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Makes a button that never submits anything.
 * @param {Attributes} attributes
 * @param {function(Event): void} act
 * @param {...(Node|string)} children
 */
export function button(attributes, act, ...children) {
  return el("button", { type: "button", ...attributes, on: { click: act } }, ...children);
}

/**
 * Replaces what an element holds, and keeps scroll position and focus: focus returns to the element with the same `data-key`.
 * @param {Element} host
 * @param {...Node} children
 */
export function refill(host, ...children) {
  const key = host.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const top = host.scrollTop;
  host.replaceChildren(...children);
  host.scrollTop = top;
  if (key !== undefined) find(host, key)?.focus({ preventScroll: true });
}

/**
 * Finds the element with a `data-key`, whatever characters the key has.
 * @param {Element} host
 * @param {string} key
 * @returns {HTMLElement|undefined}
 */
export function find(host, key) {
  return [...host.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key);
}

/** @param {string} id @returns {HTMLElement} */
export const byId = (id) => document.getElementById(id);

function fill(element, { on = {}, data = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (REFUSED.test(name)) throw new Error(`${name} may not be set as an attribute`);
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(data)) element.dataset[name] = value;
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
