// The rows for the places where they belong. Takes rows and toPlaces of register.cjs.
return toPlaces(rows).map((json) => ({ json }));
