/** Stands for a column that a person has to name: no list has it. */
export const toChoose = "CHOOSE_A_COLUMN";
