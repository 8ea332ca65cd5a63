import { applyCommand } from "../../src/cli/commands/apply.ts";
import { planCommand } from "../../src/cli/commands/plan.ts";
import { quarantineRetryCommand } from "../../src/cli/commands/quarantine.ts";
import { statusCommand } from "../../src/cli/commands/status.ts";
import { resyncCommand } from "../../src/cli/commands/resync.ts";
import { runCommand } from "../../src/cli/commands/run.ts";
import { sealEnvironment } from "./world/crm.ts";
import type { World } from "./cli.ts";
import { inProcess } from "./in-process.ts";
import type { Ended } from "./program.ts";

/**
 * A command as a person types it, without a process of its own: how it ended, what it printed, and the writing calls it
 * made.
 */
export type Does = (...words: string[]) => Promise<Ended & { calls: Record<string, number>; sent: number }>;

/** Commands on a world; `sent` counts M9. The environment is read at each command. */
export function commandsOn(w: World, environment: Record<string, string>): Does {
  Object.assign(environment, {
    ...sealEnvironment,
    CRM_SYNC__settle__timeMs: "200",
    CRM_SYNC__settle__readings: "2",
  });
  return async (command, ...words) => {
    const [first = "", second = "", ...rest] = words;
    const { result, calls } = await w.writes(() =>
      inProcess(
        {
          config: w.path("crm-sync.yaml"),
          ledger: w.path("ledger.db"),
          sandbox: w.sandbox.url,
          environment,
          json: false,
        },
        (invocation) => {
          switch (command) {
            case "run":
              return runCommand(invocation, first, second === "--accept-shrink" ? rest : []);
            case "resync":
              return resyncCommand(invocation, { [first]: second });
            case "status":
              return statusCommand(invocation);
            case "retry":
              return quarantineRetryCommand(invocation, first);
            case "plan":
              return planCommand(invocation, {}, words[0]);
            default:
              return applyCommand(invocation, words[0]);
          }
        },
      ),
    );
    return { ...result, calls, sent: calls["M9"] ?? 0 };
  };
}
