import type { ExitCode } from "../../base/errors.ts";
import { callSecret, type ChannelDependencies, reasonOf } from "./channels.ts";
import type { AlertStore } from "./tell.ts";
import type { DeadMansSwitch } from "../notify-settings.ts";

interface EndedRun {
  job: string;
  exitCode: ExitCode;
  /** A failure of the run, hidden by the exit code of its holds. */
  exitWithoutHolds?: ExitCode | undefined;
  state: string;
}

function isGoodRun({ jobs, goodExits }: Pick<DeadMansSwitch, "jobs" | "goodExits">, run: EndedRun): boolean {
  if (run.state !== "done" || run.exitWithoutHolds !== undefined) return false;
  return (jobs === undefined || jobs.includes(run.job)) && goodExits.some((code) => code === run.exitCode);
}

/** Failures are logged and recorded. Returns whether a switch newly failed or recovered: then people are notified. */
export async function callSwitches(
  switches: readonly DeadMansSwitch[],
  run: EndedRun,
  { store, logger, secret, known }: Pick<ChannelDependencies, "logger" | "secret" | "known"> & { store: AlertStore },
): Promise<boolean> {
  const failing = (await store.deliveries()).filter((one) => one.kind === "switch" && one.problem !== null);
  const changed = await Promise.all(
    switches
      .filter((one) => isGoodRun(one, run))
      .map(async ({ name, url, timeoutMs }) => {
        const before = failing.some((one) => one.name === name);
        try {
          await callSecret({ url, timeoutMs, what: "its address" }, secret);
          await store.noteDelivery("switch", name, undefined);
          return before;
        } catch (thrown) {
          const problem = reasonOf(thrown, known);
          logger.error(
            { event: "dead-mans-switch.not-called", switch: name, job: run.job, reason: problem },
            "a dead man's switch could not be called after a good run",
          );
          await store.noteDelivery("switch", name, problem);
          return !before;
        }
      }),
  );
  return changed.includes(true);
}
