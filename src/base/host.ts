import { readFileSync, statfsSync, statSync } from "node:fs";

export interface Host {
  /** Whoever finds this name again and has the lock knows that its holder died. Undefined if that proves nothing. */
  holderOf(lockFile: string): string | undefined;
  /** How far the clocks of computers and services may differ, in milliseconds. */
  readonly clockSkewMs: number;
}

const clockSkewMs = 300_000;

/** With locks local to the kernel: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs, bcachefs. Others may be shared. */
const localFileSystems = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/** `boot` differs for each start of a kernel anywhere. A copied disk has the same machine id. */
export function hostOf(boot: () => string | undefined): Host {
  return {
    clockSkewMs,
    holderOf(lockFile) {
      try {
        const name = boot();
        if (name === undefined || !localFileSystems.has(statfsSync(lockFile).type)) return undefined;
        const { dev, ino } = statSync(lockFile, { bigint: true });
        return `${name} ${dev}:${ino}`;
      } catch {
        return undefined;
      }
    },
  };
}

/** Only Linux names its boot. Elsewhere nothing is proven. */
export const systemHost: Host = hostOf(() =>
  process.platform === "linux" ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() : undefined,
);
