import { writeFileSync } from "node:fs";
import { z } from "zod";
import type { Reporter, TestModule } from "vitest/node";

/** What became of the tests of one file: those that ran, and what kept it from being run at all. */
const verdictSchema = z.object({
  file: z.string(),
  ran: z.array(
    z.object({
      title: z.string(),
      state: z.enum(["passed", "failed", "pending"]),
      errors: z.array(z.object({ name: z.string(), message: z.string() })),
    }),
  ),
  problems: z.array(z.string()),
});
export const verdictsSchema = z.array(verdictSchema);
export type Verdict = z.infer<typeof verdictSchema>;

function verdictOf(module: TestModule): Verdict {
  const ran: Verdict["ran"] = [];
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    if (state === "skipped") continue;
    const found = (errors ?? []).map((error) => ({ name: error.name ?? "", message: error.message }));
    ran.push({ title: test.fullName, state, errors: found });
  }
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  const problems = [...module.errors(), ...suites].map((error) => error.message);
  return { file: module.relativeModuleId, ran, problems };
}

/** Writes what became of every test into a file. */
export class VerdictReporter implements Reporter {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    writeFileSync(this.#path, JSON.stringify(modules.map(verdictOf)));
  }
}
