return registerRows().map((json) => ({ json }));
