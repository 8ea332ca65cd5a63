import { toJson } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import type { Json } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import { streams } from "../crm/model.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { planRun } from "../run/plan-run.ts";
import { runSync } from "../run/run.ts";
import { tellPeople } from "../run/tell.ts";
import { underRunLock, withWorkplace } from "./command.ts";
import type { Invocation } from "./command.ts";
import { safeLines } from "./output.ts";
import { readPlanFile, writePlanFile } from "./plan-file.ts";
import { planText } from "./plan-text.ts";
import { scopeOf } from "./run-commands.ts";
import type { Scope } from "./run-commands.ts";
import { lastLine, showRun } from "./run-summary.ts";

export async function planCommand(invocation: Invocation, given: Scope, out: string | undefined): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    const dependencies = await workplace.runDependencies();
    const { output, json } = workplace;
    const kept: CustomerPlan[] = [];
    return await underRunLock(workplace, async () => {
      const summary = await planRun(
        dependencies,
        {
          job: "plan",
          trigger: "hand",
          streams,
          limits: workplace.config.limits,
          scope: scopeOf(workplace, given),
          read: true,
          signal: invocation.signal,
          header: workplace.runHeader(),
        },
        (planned) => {
          if (!("plan" in planned)) {
            if (json) output.json({ type: "unplanned", customer: formatKey(planned.customer), reason: planned.reason });
            else output.line(safeLines(`customer ${formatKey(planned.customer)}\n  ! ${planned.reason}`));
            return;
          }
          const { plan } = planned;
          if (out !== undefined && plan.operations.length > 0) kept.push(plan);
          const silent =
            plan.operations.length === 0 &&
            plan.learned.length === 0 &&
            plan.records.every((record) => record.outcome === "planned");
          if (json) output.json(planJson(plan));
          else if (!silent) output.line(planText(plan));
        },
        async (run) => {
          if (out === undefined) return;
          writePlanFile(
            out,
            {
              type: "plan",
              format: 1,
              ledger: await dependencies.ledger.identity(),
              run,
              at: toInstant(workplace.clock.now()),
              config: workplace.header.hash,
            },
            kept,
          );
        },
      );
      const down = summary.sources.filter((tally) => tally.problem !== undefined || tally.shrunk !== undefined);
      for (const tally of down) {
        output.note(
          safeLines(
            `source ${tally.source}/${tally.stream}: ${tally.problem?.message ?? tally.shrunk ?? ""}\n  → ${tally.problem?.cure ?? "Until then nothing is taken away."}`,
          ),
        );
      }
      const total = {
        type: "total",
        run: summary.run,
        customers: summary.customers,
        operations: summary.operations,
        unplanned: summary.unreadable,
        writingCalls: 0,
        open: toJson(summary.open),
        exit: summary.exitCode,
      };
      if (json) output.json(total);
      else {
        output.line(
          `${summary.operations} operation(s) planned for ${summary.customers} customer(s); ${summary.unreadable} could not be planned. Nothing was sent.`,
        );
        if (out !== undefined) output.line(`saved as ${out}; \`crm-sync apply ${out}\` carries out exactly this`);
        output.line(lastLine(summary.exitCode, summary.open));
      }
      return summary.exitCode;
    });
  });
}

function planJson(plan: CustomerPlan): Json {
  return {
    type: "customer",
    customer: formatKey(plan.customer),
    fingerprint: plan.fingerprint,
    operations: plan.operations.map((operation) => ({
      ...operation,
      customer: { ...operation.customer },
      records: operation.records.map((record) => ({ ...record })),
    })),
    records: plan.records.map((record) => ({
      stream: record.stream,
      id: formatKey(record.key),
      outcome: record.outcome,
      code: record.code,
      reason: record.reason,
    })),
  };
}

export async function applyCommand(invocation: Invocation, file: string | undefined): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    const dependencies = await workplace.runDependencies();
    const saved = file === undefined ? undefined : readPlanFile(file, await dependencies.ledger.identity());
    return await underRunLock(workplace, async () => {
      const summary = await runSync(dependencies, {
        job: "apply",
        trigger: "hand",
        streams,
        limits: workplace.config.limits,
        read: saved === undefined,
        expected: saved?.customers,
        signal: invocation.signal,
        header: { ...workplace.runHeader(), plan: saved?.header.run },
      });
      await tellPeople(await workplace.notifyDependencies(dependencies.ledger), summary);
      await showRun(workplace, summary);
      if (summary.customers.stale > 0 && !workplace.json) {
        workplace.output.line(
          `refused: ${summary.customers.stale} customer(s) changed since the plan was made; plan anew with \`crm-sync plan --out FILE\``,
        );
      }
      return summary.exitCode;
    });
  });
}
