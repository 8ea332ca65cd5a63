import { lifeOfStaff } from "../breaks/life-staff.ts";
import { stage } from "../stage.ts";

stage(lifeOfStaff);
