import { tileLevel } from "./audit-log.ts";
import type { AuditRow } from "./audit-log.ts";
import { Frontier } from "./merkle-log.ts";

/** How far a record is, as an export says it between its entries. */
export interface TreeCheckpoint {
  entries: number;
  size: number;
  root: string;
}

/** The Merkle tree of a record, from its entries in their order. */
export class RecordTree {
  readonly leaves = new Frontier();
  /** The roots of its complete subtrees of 256 leaves. */
  readonly tiles: string[] = [];

  take({ hash }: Pick<AuditRow, "hash">): void {
    const tile = this.leaves.append(hash, tileLevel);
    if (tile !== undefined) this.tiles.push(tile);
  }

  checkpoint(): TreeCheckpoint {
    const { size } = this.leaves;
    return { entries: size, size, root: this.leaves.root() };
  }
}
