import { ReadJudge } from "../../src/ingest/belief/judge.ts";
import { StagedRecords } from "../../src/ledger/records/staged-records.ts";
import { formatKey } from "../../src/crm/keys.ts";
const size = Number(process.argv[2] ?? 200000);
const staged = new StagedRecords();
const key = (id: string) => ({ namespace: "crm", id });
for (let at = 0; at < size; at += 500)
  staged.put(Array.from({ length: 500 }, (_, n) => ({
    record: { rawHash: `${at + n}`, place: "", key: key(`N${at + n}`), customer: key(`C${at + n}`), record: { id: `N${at + n}`, name: `Firm ${at + n}` }, raw: "" },
  })));
global.gc?.();
const before = process.memoryUsage().heapUsed;
const judge = new ReadJudge({
  stream: "customers", staged, total: size, isWhole: true, isComplete: true, isShrunk: false,
  limits: { newIds: { floor: 5, share: 0.05 }, massChange: { floor: 20, share: 0.2 } },
  ledger: {
    of: () => [], ordersOf: () => [],
    named: (_s, names) => names.map((name) => { const id = name.replace("Firm ", "C"); return { key: key(id), source: "crm", state: "current", rawHash: id, lastRead: 1, record: { id, name } }; }),
    hasMet: () => false, missing: () => size, mayBeUnusable: () => false,
  },
});
const out = judge.judge();
global.gc?.();
console.log(size, out.doubts[0]?.text.slice(0, 80), out.suspects.size, Math.round((process.memoryUsage().heapUsed - before) / 1e6), "MB", formatKey(key("x")));
