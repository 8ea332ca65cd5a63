import { parseJsonObject } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { blankedSecret } from "../source/mapping/secrets.ts";
import type { ReadOutcome, SourceItem } from "../source/reader.ts";
import type { Source } from "../source/source.ts";

/** Records that are mapped at a time. */
const page = 500;

/** How many stored forms were mapped, and how many records stand as they were mapped last. */
export interface StoredCount {
  mapped: number;
  /** Their raw form is kept without its secrets, or not any more. */
  left: number;
}

/**
 * A source that gives the raw forms which the ledger keeps, and asks the CRM nothing. Its readings say nothing of what
 * is gone.
 */
export function storedSource(source: Source, ledger: Ledger, count: StoredCount): Source {
  return {
    ...source,
    async *read(stream: Stream): AsyncGenerator<SourceItem[], ReadOutcome, void> {
      let after: RecordKey | undefined;
      let rows = 0;
      for (;;) {
        const forms = await ledger.records.storedForms(source.name, stream, after, page);
        if (forms.length === 0) return { complete: true, full: false, rows };
        after = forms.at(-1)?.key;
        const items = forms.flatMap(({ key, raw }): SourceItem[] => {
          if (raw === null || raw.includes(JSON.stringify(blankedSecret))) return [];
          return [{ raw: { place: `the stored form of ${formatKey(key)}`, value: parseJsonObject(raw) } }];
        });
        count.mapped += items.length;
        count.left += forms.length - items.length;
        rows += items.length;
        yield items;
      }
    },
  };
}
