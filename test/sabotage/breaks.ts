import type { Breaks } from "./break.ts";
import { answers } from "./breaks/answers.ts";
import { keeping } from "./breaks/keeping.ts";
import { planning } from "./breaks/planning.ts";
import { running } from "./breaks/running.ts";
import { sending } from "./breaks/sending.ts";
import { settling } from "./breaks/settling.ts";

/** Every deliberate break of the program that a named test finds. */
export const breaks: Breaks = { ...sending, ...settling, ...answers, ...planning, ...keeping, ...running };
