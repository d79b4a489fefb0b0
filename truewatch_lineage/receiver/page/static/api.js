// Asks the receiver. A token, where one is asked for, stays in this tab and leaves the address.

const KEPT = "receiver-token";

/** An answer that is no success, or none at all (`status` 0). */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Reads one path of the API.
 * @param {string} path Such as `graph`; parts that come from names must be encoded.
 * @param {Object<string, string|number|boolean|null|Array<string>>} [query] null is left out, arrays are repeated.
 * @returns {Promise<any>} Of `events/…`, numbers that a double can't hold as they were written are raw JSON, see `valueText`.
 * @throws {ApiError}
 */
export async function get(path, query = {}) {
  let answer;
  try {
    answer = await fetch(`/api/${path}${asQuery(query)}`, { headers: credentials(), cache: "no-store" });
  } catch {
    throw new ApiError(0, "receiver.gone", "The receiver does not answer.");
  }
  const text = await answer.text();
  if (answer.ok) return path.startsWith("events/") ? JSON.parse(text, exactly) : JSON.parse(text);
  throw refusal(answer.status, text);
}

/** Writes a value, raw JSON too, as text. @param {any} value @returns {string} */
export function valueText(value) {
  return JSON.isRawJSON?.(value) ? value.rawJSON : String(value);
}

/** The address of the stream of changes; an EventSource can't send a header. @returns {string} */
export function liveAddress() {
  const token = sessionStorage.getItem(KEPT);
  return `/api/live${asQuery({ token })}`;
}

/** Keeps a token for this tab. @param {string} token */
export function keepToken(token) {
  sessionStorage.setItem(KEPT, token);
}

/** Whether this tab has a token. */
export const hasToken = () => sessionStorage.getItem(KEPT) !== null;

/** Takes `?token=` out of the address, so that a shared address never holds it. */
export function takeTokenFromAddress() {
  const query = new URLSearchParams(location.search);
  const token = query.get("token");
  if (token === null) return;
  keepToken(token);
  query.delete("token");
  history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
}

function credentials() {
  const token = sessionStorage.getItem(KEPT);
  return token ? { "X-Token": token } : {};
}

function asQuery(query) {
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const flat = pairs.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
  return flat.length ? `?${new URLSearchParams(flat)}` : "";
}

/** A huge integer, or 1.0, keeps its own text, where the browser can. */
function exactly(_key, value, context) {
  if (typeof value !== "number" || !context || !JSON.rawJSON || String(value) === context.source) return value;
  return JSON.rawJSON(context.source);
}

function refusal(status, text) {
  try {
    const body = JSON.parse(text);
    return new ApiError(status, String(body.error_code), String(body.message));
  } catch {
    return new ApiError(status, "receiver.failed", `The receiver answered ${status}.`);
  }
}
