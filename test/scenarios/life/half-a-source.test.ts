import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { world } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** Everything that takes something away would go by itself, at once and without a limit. */
const nothingStops = `policies:
  orders: { ended: apply, cancelled: apply, gone: apply, replaced: apply, assetChanged: apply }
  staff: { left: apply, moved: apply }
  locks: { locked: apply }
limits:
  absenceReads: 1
  absenceTime: 0s
  taking:
    enterprise: { floor: 1000 }
    run: { floor: 1000 }
    day: { floor: 1000 }
    week: { floor: 1000 }
`;

test(
  "a source that suddenly has 3 % of its rows takes nothing away, whatever the policies say, and somebody is told",
  { tags: "long" },
  async () => {
    const [customers, people] = [34, 2];
    const w = await world({ records: company(customers, people) });
    const first = await w.run("run", "everything");
    expect(first.exitCode, first.stdout + first.stderr).toBe(0);
    const before = w.sandbox.state();

    writeFileSync(w.path("tell.sh"), `#!/bin/sh\ncat >> "${w.path("told.ndjson")}"\n`);
    chmodSync(w.path("tell.sh"), 0o755);
    w.extra = `${nothingStops}notify: { kind: command, command: ["${w.path("tell.sh")}"] }\n`;
    const whole = { customers: w.customers, orders: w.orders, staff: w.staff };
    w.customers = whole.customers.slice(0, 1);
    w.orders = whole.orders.slice(0, 1);
    w.staff = whole.staff.slice(0, 2);
    w.write();
    for (let read = 1; read <= 4; read += 1) {
      const { exitCode, calls, stdout } = await w.does("run", "everything");
      expect([exitCode, calls], `read ${read}: ${stdout}`).toEqual([7, {}]);
      expect(stdout).toContain("source crm/orders");
    }
    expect(w.sandbox.state()).toEqual(before);
    const told = readFileSync(w.path("told.ndjson"), "utf8");
    expect(told).toContain('"kind":"source-down"');

    Object.assign(w, whole);
    w.write();
    const mended = await w.does("run", "everything");
    expect([mended.exitCode, mended.calls], mended.stdout).toEqual([0, {}]);
    expect(w.sandbox.state()).toEqual(before);
  },
);
