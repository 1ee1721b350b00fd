// The rows at the end, each sent to the register or to the list of those who are left.
return toPlaces(rows).map((json) => ({ json }));
