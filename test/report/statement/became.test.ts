import { describe, expect, it } from "vitest";
import type { Instance } from "../../../src/crm/model.ts";
import { becameOf, type AnsweringStep, type ChangingForm } from "../../../src/report/statement/corrections.ts";
import { orderChanges, type ChangedField, orderForm } from "../../../src/report/statement/order-form.ts";
import { asset, bundle, product } from "../../support/world/instances.ts";

const whole: Instance[] = [
  asset("A1", {}),
  product("P1", "A1", {}),
  bundle("K1", "A1", { number: "M-1" }),
  product("P2", "K1", {}),
  bundle("K2", "K1", { number: "M-2", parentNumber: "M-1" }),
  product("P3", "K2", {}),
];
const without = (...ids: string[]): Instance[] =>
  whole.filter((item) => !("id" in item && typeof item.id === "string" && ids.includes(item.id)));

interface Kept {
  cancelled?: boolean;
  placedAt?: string;
  instances?: Instance[];
}

/** What became of the change of a field between two forms, the second of which came on 2 October. */
function outcome(
  [before, after]: [Kept, Kept],
  of: { field: ChangedField; item: string | null },
  steps: readonly Partial<AnsweringStep>[],
  again?: ChangingForm["again"],
): string {
  const form = (kept: Kept) => orderForm({ cancelled: false, instances: whole, ...kept });
  const change = orderChanges(form(before), form(after)).find((o) => o.field === of.field && o.item === of.item);
  if (change === undefined) throw new Error(`no change of ${of.field}`);
  const answers = {
    steps: steps.map(
      (step) => ({ kind: "removed", at: on(3), version: null, items: [], operationId: "op", ...step }) as const,
    ),
    operations: [],
    newest: 4,
    waits: null,
  };
  return becameOf(change, { version: 2, since: on(2), again }, answers).became;
}

const on = (day: number): string => `2026-10-0${day}T10:00:00.000Z`;
const removed = (item: string | null, at = 3): Partial<AnsweringStep> => ({
  at: on(at),
  items: [{ instanceId: "A1", product: item }],
});

describe("a package that the CRM takes away", () => {
  const gone: [Kept, Kept] = [{}, { instances: without("K1", "K2", "P2", "P3") }];

  it("is taken away with a product that stood in it, be it in a package in it, and with its asset", () => {
    for (const item of ["P2", "P3", null])
      expect(outcome(gone, { field: "package", item: "K1" }, [removed(item)]), String(item)).toBe("taken-away");
    expect(outcome(gone, { field: "package", item: "K2" }, [removed("P3")])).toBe("taken-away");
  });

  it("is not where only something else went", () => {
    expect(outcome(gone, { field: "package", item: "K1" }, [removed("P1")])).toBe("superseded");
    expect(outcome(gone, { field: "package", item: "K2" }, [removed("P2")])).toBe("superseded");
  });
});

describe("a change that the CRM took back before anything was done", () => {
  const longer = whole.map((item) => (item.kind === "product" && item.id === "P1" ? { ...item, term: "2-0-0" } : item));
  const term: [Kept, Kept] = [{}, { instances: longer }];
  const of = { field: "term", item: "P1" } as const;
  const bought = (version: number): Partial<AnsweringStep> => ({
    kind: "bought",
    version,
    items: [{ instanceId: "A1", products: ["P1"], packages: [] }],
  });
  const again = { version: 3, since: on(4) };

  it("is superseded, whatever was bought from a later form", () => {
    expect(outcome(term, of, [bought(4)])).toBe("amended");
    expect(outcome(term, of, [bought(2)], again)).toBe("amended");
    expect(outcome(term, of, [bought(3)], again)).toBe("superseded");
    expect(outcome(term, of, [bought(4)], again)).toBe("superseded");
  });

  it("is superseded, whatever was taken away after that", () => {
    const fewer: [Kept, Kept] = [{}, { instances: without("P1") }];
    expect(outcome(fewer, { field: "product", item: "P1" }, [removed("P1", 3)], again)).toBe("taken-away");
    expect(outcome(fewer, { field: "product", item: "P1" }, [removed("P1", 5)], again)).toBe("superseded");
  });
});

describe("an order that the CRM cancels, restores or dates otherwise", () => {
  it("is taken away where it is cancelled, and not where it is restored", () => {
    const cancelled = { field: "cancelled", item: null } as const;
    expect(outcome([{}, { cancelled: true }], cancelled, [removed(null)])).toBe("taken-away");
    expect(outcome([{ cancelled: true }, {}], cancelled, [removed(null)])).toBe("superseded");
  });

  it("has its new date as a change, by which nothing is taken away", () => {
    const dated = { field: "crm_date", item: null } as const;
    const dates: [Kept, Kept] = [{ placedAt: on(1) }, { placedAt: on(2) }];
    expect(outcome(dates, dated, [removed(null)])).toBe("superseded");
    expect(() => outcome([{ placedAt: on(1) }, { placedAt: on(1) }], dated, [])).toThrow("no change of crm_date");
  });
});
