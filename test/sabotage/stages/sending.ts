import { sending } from "../breaks/sending.ts";
import { stage } from "../stage.ts";

stage(sending);
