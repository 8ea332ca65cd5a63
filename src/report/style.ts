import { styleText } from "node:util";
import type { View } from "./text.ts";

/** What a colour says: that something is worse or better than before, that it waits, or what identifies a record. */
const colours = { worse: "red", waits: "yellow", better: "green", id: "cyan", title: "bold" } as const;
export type Tone = keyof typeof colours;

/** A text in the colour of its meaning, on a terminal that shows colours; made safe before, since this adds codes. */
export function painted(
  tone: Tone | undefined,
  text: string,
  { colours: shows = false }: Pick<View, "colours">,
): string {
  return shows && tone !== undefined ? styleText(colours[tone], text, { validateStream: false }) : text;
}
