import type { Seat } from "./crm-orders.ts";
import { fakeMobile } from "./customers.ts";
import type { MadeCustomer } from "./customers.ts";
import type { Dice } from "./dice.ts";

/** An employee of a customer as the HR export writes it. */
export interface MadeEmployee {
  employeeId: string;
  system: "crm" | "portal";
  company: string;
  login: string;
  fullName: string;
  department?: string;
  note?: string;
  mobile: string;
  licences: ({ number: string } | { instance: string })[];
}

const notes = [
  "works from home on Fridays",
  "trainee until summer",
  "shares a desk with accounting",
  "bureau d'études, 2e étage",
] as const;

/** People for most of the seats that orders give. Some hold two assets, some none yet, and some seats stay free. */
export function makeStaff(dice: Dice, seats: readonly Seat[]): MadeEmployee[] {
  const staff: MadeEmployee[] = [];
  let last: { employee: MadeEmployee; customer: MadeCustomer } | undefined;
  const hire = (system: Seat["system"], customer: MadeCustomer): MadeEmployee => {
    const serial = staff.length + 1;
    const [fullName, latin] = dice.pick(customer.region.people);
    const employee: MadeEmployee = {
      employeeId: `E-${20_000 + serial}`,
      system,
      company: customer.id,
      login: `${latin}${String(serial).padStart(3, "0")}`,
      fullName,
      ...(dice.chance(0.3) ? { department: String(100 + dice.below(5)) } : {}),
      ...(dice.chance(0.2) ? { note: dice.pick(notes) } : {}),
      mobile: fakeMobile(100_000 + serial),
      licences: [],
    };
    staff.push(employee);
    return employee;
  };
  for (const { system, customer, claim } of seats) {
    if (dice.chance(0.3)) continue;
    const holdsThisInstance = last?.employee.licences.some(
      (held) => "instance" in held && "instance" in claim && held.instance === claim.instance,
    );
    const again = last?.customer === customer && holdsThisInstance === false && dice.chance(0.6);
    const employee: MadeEmployee = again && last !== undefined ? last.employee : hire(system, customer);
    employee.licences.push(claim);
    last = { employee, customer };
    if (dice.chance(0.05)) hire(system, customer);
  }
  return staff;
}
