import { filesOf } from "../sample.ts";

/** Writes the workbook of the sample to its output, in a process of its own. */
process.stdout.write((await filesOf("xlsx")).get("") ?? "");
