import { firstHour } from "../breaks/first-hour.ts";
import { stage } from "../stage.ts";

stage(firstHour);
