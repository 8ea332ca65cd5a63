import { chainLeaf, formats, tileLevel } from "./audit-log.ts";
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
  #leaves = new Frontier();
  /** The roots of its complete subtrees of 256 leaves. */
  readonly tiles: string[] = [];
  /** Entries of the format before the tree, and the hash of the last of them. */
  readonly chain = { entries: 0, hash: "" };
  #entries = 0;

  /** The tree as it stands: before the first entry of a later format, the chain is its only leaf. */
  get leaves(): Frontier {
    if (this.#leaves.size > 0 || this.chain.entries === 0) return this.#leaves;
    const chainAlone = new Frontier();
    chainAlone.append(chainLeaf(this.chain));
    return chainAlone;
  }

  take({ format, hash, sequence }: Pick<AuditRow, "format" | "hash" | "sequence">): void {
    this.#entries = sequence;
    if (format === formats[0]) {
      this.chain.entries += 1;
      this.chain.hash = hash;
      return;
    }
    this.#leaves = this.leaves;
    const tile = this.#leaves.append(hash, tileLevel);
    if (tile !== undefined) this.tiles.push(tile);
  }

  checkpoint(): TreeCheckpoint {
    return { entries: this.#entries, size: this.leaves.size, root: this.leaves.root() };
  }
}
