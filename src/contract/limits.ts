import { licenseTypes, type LicenseType } from "./vocabulary.ts";

export const limits = {
  staffPerCall: 100,
  /** `name` of M1 and M2, in the configured unit (A31). */
  nameLength: 30,
  /** `remark` of M1 and M2, in the configured unit (A31). */
  remarkLength: 200,
  /** `userName` plus the enterprise code must be shorter (M1, M2). */
  userNameWithCodeBelow: 63,
  assetDigits: 10,
  /** Regions: 8 domestic, 6 the second overseas region. */
  assetFirstDigits: ["8", "6"],
  /** Our limit for `size` of E9. The contract shows none (A25). */
  assetNumbersPerCall: 100,
  /** Our limit of locks per E6 or E7. The contract shows none. */
  locksPerCall: 100,
} as const;

type LengthUnit = "characters" | "bytes";

/** In Unicode code points or UTF-8 bytes (A31). */
function lengthOf(text: string, unit: LengthUnit): number {
  return unit === "bytes" ? Buffer.byteLength(text, "utf8") : Array.from(text).length;
}

interface StaffTextProblem {
  field: "userName" | "name" | "remark";
  problem: string;
}

/** What M1 and M2 would reject. Nothing is ever cut to fit. */
export function checkStaffTexts(
  staff: { userName: string; name: string; remark?: string | undefined },
  options: { enterpriseCodeLength: number; lengthUnit: LengthUnit },
): StaffTextProblem[] {
  const problems: StaffTextProblem[] = [];
  if (!/^[A-Za-z0-9]+$/.test(staff.userName)) {
    problems.push({ field: "userName", problem: "may contain only letters A–Z, a–z and digits, and at least one" });
  }
  const longest = limits.userNameWithCodeBelow - 1 - options.enterpriseCodeLength;
  const userNameLength = lengthOf(staff.userName, "characters");
  if (userNameLength > longest) {
    problems.push({
      field: "userName",
      problem:
        `has ${userNameLength} characters; with an enterprise code ` +
        `of ${options.enterpriseCodeLength} at most ${longest} fit`,
    });
  }
  if (staff.name === "") problems.push({ field: "name", problem: "is empty" });
  const texts = [
    ["name", staff.name, limits.nameLength],
    ["remark", staff.remark ?? "", limits.remarkLength],
  ] as const;
  for (const [field, text, most] of texts) {
    const length = lengthOf(text, options.lengthUnit);
    if (length > most)
      problems.push({ field, problem: `has ${length} ${options.lengthUnit}, at most ${most} are allowed` });
  }
  return problems;
}

export const physicalLockTypes: readonly LicenseType[] = licenseTypes.filter((type) => type.endsWith("_usbkey"));

const reissuableLicenseTypes: readonly LicenseType[] = ["normal_recover_usbkey", "normal_recover_lan_usbkey"];

/** No field shows that a lock is a large-customer lock: the requester says so. */
export interface LockTarget {
  assetNum: string;
  licenseType: LicenseType;
  largeCustomer: boolean;
}

/** Why E6 and E7 would reject a lock: they accept only re-issuable and large-customer locks. */
export function lockProblem(lock: LockTarget): string | undefined {
  if (lock.largeCustomer || reissuableLicenseTypes.includes(lock.licenseType)) return undefined;
  return (
    `${lock.assetNum} is a lock of the type ${lock.licenseType}; only ` +
    `${reissuableLicenseTypes.join(" and ")} and large-customer locks can be disabled and enabled`
  );
}

/** Why the answer of E9 is unusable: `asked` distinct strings of 10 digits from a known region are expected (A25). */
export function assetDigitsProblem(
  digits: readonly string[],
  asked: number,
  firstDigits: readonly string[] = limits.assetFirstDigits,
): string | undefined {
  if (digits.length !== asked) return `${asked} numbers were asked for and ${digits.length} came back`;
  if (new Set(digits).size !== digits.length) return "the same number came back twice";
  for (const number of digits) {
    if (!/^\d{10}$/.test(number)) return `a number does not have exactly ${limits.assetDigits} digits`;
    if (!firstDigits.includes(number.charAt(0))) {
      return `a number starts with ${number.charAt(0)}; the known regions are ${firstDigits.join(", ")}`;
    }
  }
  return undefined;
}
