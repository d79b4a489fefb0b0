// How names, times and numbers are written.

const context = document.createElement("canvas").getContext("2d");
const widths = new Map();

// Pixels of a character at most, at the sizes used here: shorter texts need not be measured.
const WIDEST = 20;

/**
 * Shortens a text in its middle, so that it fits; ends of names tell them apart.
 * @param {string} text
 * @param {number} room Pixels.
 * @param {string} font As in CSS, such as `600 13px sans-serif`.
 * @returns {string}
 */
export function shorten(text, room, font) {
  if (text.length * WIDEST < room || width(text, font) <= room) return text;
  let low = 1;
  let high = Math.min(text.length, Math.ceil(room / 2));
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (width(cut(text, middle), font) <= room) low = middle;
    else high = middle - 1;
  }
  return cut(text, low);
}

/** Shortens by a number of characters, where no width is known. @param {string} text @param {number} length */
export function cut(text, length) {
  if (text.length <= length) return text;
  const head = Math.ceil((length - 1) / 2);
  const tail = text.slice(text.length - (length - 1 - head));
  // Points beside the ellipsis would read as part of it.
  return `${text.slice(0, head).replace(/[./]+$/, "")}…${tail.replace(/^[./]+/, "")}`;
}

/**
 * Writes a time of day, with the date unless it is today.
 * @param {string|null} iso
 * @returns {string} The text as given where it is no time.
 */
export function when(iso) {
  if (!iso) return "";
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const clock = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  if (time.toDateString() === new Date().toDateString()) return clock;
  return `${time.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" })}, ${clock}`;
}

/** Writes a time as short as a list needs it: of today the time of day, else the date. @param {string|null} iso */
export function briefly(iso) {
  return when(iso).replace(/ \d{4}, .*$/, "");
}

/** Writes a duration. @param {number|null} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Writes a number of bytes. @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Writes a count with its noun. @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function width(text, font) {
  const key = `${font}\n${text}`;
  let known = widths.get(key);
  if (known === undefined) {
    if (widths.size > 20000) widths.clear();
    if (context.font !== font) context.font = font;
    known = context.measureText(text).width;
    widths.set(key, known);
  }
  return known;
}
