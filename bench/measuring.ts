import { z } from "zod";
import type { Program } from "./program.ts";

/** The programs that are measured side by side: that of this checkout, and one of another checkout. */
export interface Programs {
  now: Program;
  before?: Program | undefined;
}
export type ProgramName = keyof Programs;

/** What every measurement needs. */
export interface Measuring {
  /** A folder on a real disk: a file system in memory would make durability look free. */
  work: string;
  /** Is told what is measured now. */
  tell: (step: string) => void;
  programs: Programs;
}

/** A figure of each program. */
export interface OfPrograms<Figure> {
  now: Figure;
  before?: Figure | undefined;
}

export function ofPrograms<Figure>(figure: z.ZodType<Figure>) {
  return z.object({ now: figure, before: figure.optional() });
}

/** Measures one program after the other. */
export async function eachProgram<Figure>(
  { now, before }: Programs,
  take: (program: Program, name: ProgramName) => Promise<Figure>,
): Promise<OfPrograms<Figure>> {
  const taken = { now: await take(now, "now") };
  return before === undefined ? taken : { ...taken, before: await take(before, "before") };
}
