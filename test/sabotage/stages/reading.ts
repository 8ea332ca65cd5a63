import { reading } from "../breaks/reading.ts";
import { stage } from "../stage.ts";

stage(reading);
