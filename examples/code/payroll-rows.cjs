return registerRows(listed()).map((json) => ({ json }));
