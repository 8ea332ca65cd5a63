import { median } from "./measure.ts";

/** Least, middle and largest of a ratio that was taken in each of so many rounds. */
export interface Spread {
  least: number;
  middle: number;
  most: number;
  rounds: number;
}

/** One line of the result. */
export interface Figure {
  target: string;
  what: string;
  /** The figure in words, such as `4,367 records/s`. */
  figure: string;
  wanted: string;
  /** The ratio that is compared with the target, over the rounds; undefined where there is none. */
  spread?: Spread | undefined;
  verdict: "met" | "below" | "not measured";
}

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** `1,234,567`. */
export const count = (value: number): string => whole.format(value);
export const rate = (value: number, unit: string): string => `${count(value)} ${unit}/s`;
export const times = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ×`;

export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return { least, middle: median(values), most, rounds: values.length };
}

/** `0.52 × (0.49 to 0.55 in 3 rounds)`. */
export function spreadText(spread: Spread | undefined): string {
  if (spread === undefined) return "";
  const { least, middle, most, rounds } = spread;
  return `${times(middle)} (${least.toFixed(2)} to ${most.toFixed(2)} in ${rounds} round${rounds === 1 ? "" : "s"})`;
}

/** A ratio of each round, whose middle is judged. */
export function judged(
  of: Pick<Figure, "target" | "what" | "figure" | "wanted">,
  ratios: readonly number[],
  meets: (middle: number) => boolean,
): Figure {
  const spread = spreadOf(ratios);
  return { ...of, spread, verdict: spread === undefined ? "not measured" : meets(spread.middle) ? "met" : "below" };
}
