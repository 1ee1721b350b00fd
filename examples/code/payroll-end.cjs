// The rows at the end, each sent to the register or to the list of what is left. Takes rows and toPlaces of register.cjs.
return toPlaces(rows).map((json) => ({ json }));
