return toPlaces(rows).map((json) => ({ json }));
