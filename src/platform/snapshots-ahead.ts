import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Snapshot, Snapshots } from "./snapshot.ts";

/** Some snapshots are read ahead. The next caller of `of` gets such a snapshot, once. */
export class SnapshotsAhead implements Snapshots {
  readonly #snapshots: Snapshots;
  readonly #ahead = new Map<string, Snapshot>();

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  of(customer: RecordKey, signal?: AbortSignal): Snapshot {
    const key = formatKey(customer);
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    return ahead ?? this.#snapshots.of(customer, signal);
  }

  keep(customer: RecordKey, snapshot: Snapshot): void {
    this.#ahead.set(formatKey(customer), snapshot);
  }
}
