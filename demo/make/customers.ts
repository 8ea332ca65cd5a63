import type { Dice } from "./dice.ts";
import { regions } from "./regions.ts";
import type { Region } from "./regions.ts";

/** A made-up customer. E-mail addresses are of example.com, mobile numbers of an area code that does not exist. */
export interface MadeCustomer {
  id: string;
  name: string;
  person: boolean;
  branchCode: string;
  branchName: string;
  street: string;
  postcode: string;
  city: string;
  region: Region;
  contact: string;
  login: string;
  email: string;
  mobile: string;
  purchaserMobile: string;
}

const branches = [
  ["B01", "North"],
  ["B02", "South"],
  ["B03", "Asia & Pacific"],
] as const;

/** A number that is shaped like a mobile and belongs to nobody. */
export function fakeMobile(serial: number): string {
  return `+4900000${String(serial).padStart(6, "0")}`;
}

/** Makes customers whose names are all different. */
export function createCustomers(dice: Dice): (id: string, serial: number) => MadeCustomer {
  const taken = new Set<string>();
  const freeName = (region: Region, person: boolean): string => {
    for (;;) {
      const { space, words, trades, forms } = region;
      const name = person
        ? dice.pick(region.people)[0]
        : [dice.pick(words), dice.pick(trades), dice.pick(forms)].join(space);
      const full = taken.has(name) ? `${name} ${dice.pick(region.cities)[0]} ${1 + dice.below(9)}` : name;
      if (taken.has(full)) continue;
      taken.add(full);
      return full;
    }
  };
  return (id, serial) => {
    const region = dice.pick(regions);
    const person = dice.chance(0.07);
    const [city, postcode] = dice.pick(region.cities);
    const [contact, latin] = dice.pick(region.people);
    const [branchCode, branchName] = dice.pick(branches);
    const login = `${latin}${serial}`;
    return {
      id,
      name: freeName(region, person),
      person,
      branchCode,
      branchName,
      street: dice.pick(region.streets),
      postcode,
      city,
      region,
      contact,
      login,
      email: `${login}@${id.toLowerCase()}.example.com`,
      mobile: fakeMobile(serial * 10),
      purchaserMobile: fakeMobile(serial * 10 + 1),
    };
  };
}
