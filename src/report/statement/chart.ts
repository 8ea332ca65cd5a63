import { scaleBand, scaleLinear } from "d3-scale";
import stringWidth from "string-width";
import { html } from "hono/html";

/** A bar: what it stands for, its length, and that as people read it. */
interface Bar {
  label: string;
  value: number;
  text: string;
}

interface BarChart {
  /** Unique in the page. */
  id: string;
  title: string;
  bars: readonly Bar[];
}

const width = 720;
const labels = 190;
const values = 110;
const heightOfBar = 24;
const below = 26;
const mostBars = 20;
const charactersOfLabel = 28;

/**
 * Bars from left to right, one below the other, as SVG: no script, no style attributes; a screen reader reads every
 * value. Values below zero go to the left.
 */
export function barChart({ id, title, bars }: BarChart): Markup {
  const shown = bars.slice(0, mostBars);
  const more = bars.length - shown.length;
  const height = shown.length * heightOfBar;
  const lengths = shown.map(({ value }) => value);
  const along = scaleLinear([Math.min(0, ...lengths), Math.max(0, ...lengths, 1e-9)], [labels, width - values]).nice(5);
  const across = scaleBand(
    shown.map((_bar, index) => index),
    [0, height],
  ).padding(0.3);
  const format = along.tickFormat(5);
  const ticks = along.ticks(5).map((tick) => {
    const at = position(along(tick));
    return markup`<line class="grid" x1="${at}" x2="${at}" y1="0" y2="${height}"/>
<text class="tick" x="${at}" y="${height + 16}">${format(tick)}</text>
`;
  });
  const drawn = shown.map(({ label, value, text }, index) => {
    const top = across(index) ?? 0;
    const middle = position(top + across.bandwidth() / 2);
    const [from, to] = value < 0 ? [along(value), along(0)] : [along(0), along(value)];
    const length = position(Math.max(to - from, 0.5));
    const thickness = position(across.bandwidth());
    return markup`<text class="label" x="${labels - 8}" y="${middle}">${shortened(label)}</text>
<rect class="bar" x="${position(from)}" y="${position(top)}" width="${length}" height="${thickness}"/>
<text class="value" x="${position(to + 6)}" y="${middle}">${text}</text>
`;
  });
  const described = shown.map(({ label, text }) => `${label}: ${text}`).join("; ");
  const rest = more === 0 ? "" : ` ${grouped(String(more))} more are not drawn; the table has them.`;
  const zero = position(along(0));
  return markup`<figure><figcaption>${title}${rest}</figcaption>
<svg role="img" aria-labelledby="${id}-title ${id}-desc" viewBox="0 0 ${width} ${height + below}">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${described}</desc>
${ticks}<line class="zero" x1="${zero}" x2="${zero}" y1="0" y2="${height}"/>
${drawn}</svg></figure>
`;
}

/** A place in the picture, to a tenth: the same on every machine. */
function position(at: number): number {
  return Math.round(at * 10) / 10;
}

function shortened(label: string): string {
  if (stringWidth(label) <= charactersOfLabel) return label;
  let kept = "";
  for (const character of label) {
    if (stringWidth(kept + character) >= charactersOfLabel) break;
    kept += character;
  }
  return `${kept}…`;
}

/** HTML that is escaped already. */
export type Markup = Exclude<ReturnType<typeof html>, Promise<unknown>>;

/** HTML of a template: texts in it are escaped, markup and lists of it stand as they are. */
export function markup(
  strings: TemplateStringsArray,
  ...values: (string | number | Markup | readonly Markup[])[]
): Markup {
  const made = html(strings, ...values);
  if (made instanceof Promise) throw new TypeError("a template of a statement waits for nothing");
  return made;
}

/** A number's digits in groups of three, as people read them. */
export function grouped(digits: string): string {
  const [whole = "", ...fraction] = digits.split(".");
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ","), ...fraction].join(".");
}
